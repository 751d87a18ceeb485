// join, whoami, token, agent, revoke.
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/command/commands.h"
#include "cli/coordinator/enrol.h"
#include "cli/render/identities.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "core/document/units.h"

namespace assay::cli {
namespace {

struct JoinOptions {
  std::string coordinator, token, token_file, fingerprint;
  bool replace = false;
};

// --token, --token-file, then $ASSAY_JOIN_TOKEN.
absl::StatusOr<std::string> TokenOf(const JoinOptions& options,
                                    const term::Environment& environment) {
  if (!options.token.empty()) return options.token;
  if (!options.token_file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(std::string text, files::Read(options.token_file, 4096));
    return std::string(absl::StripAsciiWhitespace(text));
  }
  std::optional<std::string> value = environment("ASSAY_JOIN_TOKEN");
  if (value.has_value() && !value->empty()) return *value;
  return Error(absl::StatusCode::kInvalidArgument, "cli.no_token");
}

absl::StatusOr<int> Join(const JoinOptions& options, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(tls::HostPort coordinator, tls::ParseHostPort(options.coordinator));
  ASSAY_ASSIGN_OR_RETURN(std::string token, TokenOf(options, session.world.environment));
  if (HasContext(session.context_directory) && !options.replace) {
    return Error(absl::StatusCode::kAlreadyExists, "cli.context_exists",
                 {{"dir", session.context_directory}});
  }
  ASSAY_RETURN_IF_ERROR(PrepareContextDirectory(session.context_directory));
  ASSAY_ASSIGN_OR_RETURN(Enrolled enrolled,
                         EnrolPerson(coordinator, token, options.fingerprint, session.timeout));
  enrolled.context.directory = session.context_directory;
  ASSAY_RETURN_IF_ERROR(SaveContext(enrolled.context));
  if (session.view.format == term::OutputFormat::kTable) {
    session.Print(
        session.view.Say("cli.joined", {{"person", enrolled.person},
                                        {"role", render::EnumText(enrolled.role, session.view)},
                                        {"dir", session.context_directory}}) +
        "\n");
  } else {
    // What `whoami` says, so that a program finds one form.
    ASSAY_ASSIGN_OR_RETURN(Coordinator * connected, session.Connect());
    ASSAY_ASSIGN_OR_RETURN(v1::WhoAmIResponse me, connected->WhoAmI());
    session.Print(render::WhoAmI(me, connected->name(), session.view));
  }
  return kDone;
}

absl::StatusOr<int> WhoAmI(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::WhoAmIResponse me, coordinator->WhoAmI());
  session.Print(render::WhoAmI(me, coordinator->name(), session.view));
  return kDone;
}

// --server, --vantage or --person: exactly one.
struct SubjectOptions {
  std::string server, vantage, person;

  v1::SubjectKind kind() const {
    if (!server.empty()) return v1::SUBJECT_KIND_SERVER;
    return vantage.empty() ? v1::SUBJECT_KIND_PERSON : v1::SUBJECT_KIND_VANTAGE;
  }
  const std::string& name() const {
    if (!server.empty()) return server;
    return vantage.empty() ? person : vantage;
  }
};

absl::Status CheckSubject(const SubjectOptions& subject) {
  int given = !subject.server.empty() + !subject.vantage.empty() + !subject.person.empty();
  if (given == 1) return absl::OkStatus();
  return Error(absl::StatusCode::kInvalidArgument, "cli.one_of",
               {{"options", "--server, --vantage, --person"}});
}

void AddSubject(CLI::App* command, const Registry& registry, SubjectOptions* subject) {
  command->add_option("--server", subject->server, registry.Help("subject_server"))
      ->type_name("NAME");
  command->add_option("--vantage", subject->vantage, registry.Help("subject_vantage"))
      ->type_name("NAME");
  command->add_option("--person", subject->person, registry.Help("subject_person"))
      ->type_name("NAME");
}

struct TokenOptions {
  SubjectOptions subject;
  std::string role, valid = "24h";
};

absl::StatusOr<int> CreateToken(const TokenOptions& options, Session& session) {
  ASSAY_RETURN_IF_ERROR(CheckSubject(options.subject));
  v1::CreateTokenRequest request;
  request.set_subject_kind(options.subject.kind());
  request.set_subject(options.subject.name());
  const bool person = request.subject_kind() == v1::SUBJECT_KIND_PERSON;
  if (person != !options.role.empty()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 person ? "cli.role_missing" : "cli.role_for_people");
  }
  if (person) {
    v1::Role role;
    if (!v1::Role_Parse(absl::StrCat("ROLE_", absl::AsciiStrToUpper(options.role)), &role) ||
        role == v1::ROLE_UNSPECIFIED) {
      return Error(absl::StatusCode::kInvalidArgument, "cli.unknown_role",
                   {{"role", options.role}});
    }
    request.set_role(role);
  }
  ASSAY_ASSIGN_OR_RETURN(absl::Duration valid, document::ParseDuration(options.valid));
  *request.mutable_validity() = ToProto(valid);
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::CreateTokenResponse token, coordinator->CreateToken(request));
  session.Print(render::Token(request, token, session.view));
  return kDone;
}

absl::StatusOr<int> ListAgents(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::ListAgentsResponse agents, coordinator->ListAgents());
  session.Print(render::Agents(agents, session.view));
  return kDone;
}

struct RevokeOptions {
  SubjectOptions subject;
  std::string reason;
};

absl::StatusOr<int> Revoke(const RevokeOptions& options, Session& session) {
  ASSAY_RETURN_IF_ERROR(CheckSubject(options.subject));
  v1::RevokeRequest request;
  request.set_subject_kind(options.subject.kind());
  request.set_subject(options.subject.name());
  request.set_reason(options.reason);
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::RevokeResponse response, coordinator->Revoke(request));
  session.Print(render::Revoked(request, response, session.view));
  return kDone;
}

}  // namespace

void AddIdentityCommands(Registry registry) {
  auto join = std::make_shared<JoinOptions>();
  CLI::App* command =
      registry.Command("join", [join](Session& session) { return Join(*join, session); });
  command->add_option("COORDINATOR", join->coordinator, registry.Help("coordinator"))
      ->required()
      ->type_name("HOST:PORT");
  command->add_option("--token", join->token, registry.Help("token"))->type_name("TOKEN");
  command->add_option("--token-file", join->token_file, registry.Help("token_file"))
      ->type_name("FILE");
  command->add_option("--ca-fingerprint", join->fingerprint, registry.Help("ca_fingerprint"))
      ->required()
      ->type_name("sha256:HEX");
  command->add_flag("--replace", join->replace, registry.Help("replace"));

  registry.Command("whoami", WhoAmI);

  Registry tokens = registry.Group("token");
  auto token = std::make_shared<TokenOptions>();
  command =
      tokens.Command("create", [token](Session& session) { return CreateToken(*token, session); });
  AddSubject(command, registry, &token->subject);
  command->add_option("--role", token->role, registry.Help("role"))
      ->type_name("viewer|operator|admin");
  command->add_option("--valid", token->valid, registry.Help("valid"))->type_name("TIME");

  registry.Group("agent").Command("list", ListAgents);

  auto revoke = std::make_shared<RevokeOptions>();
  command =
      registry.Command("revoke", [revoke](Session& session) { return Revoke(*revoke, session); });
  AddSubject(command, registry, &revoke->subject);
  command->add_option("--reason", revoke->reason, registry.Help("revoke_reason"))
      ->required()
      ->type_name("TEXT");
}

}  // namespace assay::cli
