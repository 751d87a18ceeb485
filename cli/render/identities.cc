#include "cli/render/identities.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/render/fields.h"
#include "cli/render/grid.h"
#include "cli/render/json.h"
#include "common/term/output.h"
#include "common/term/width.h"

namespace assay::render {
namespace {

term::Style AgentStyle(v1::AgentState state) {
  switch (state) {
    case v1::AGENT_STATE_CONNECTED:
      return term::Style::kGood;
    case v1::AGENT_STATE_OFFLINE:
      return term::Style::kWarning;
    case v1::AGENT_STATE_REVOKED:
      return term::Style::kBad;
    default:
      return term::Style::kDim;
  }
}

// "icmp tcp http"; what it cannot probe is said under the table.
std::string Probes(const v1::AgentInfo& agent) {
  std::vector<std::string> names;
  for (const v1::Capability& capability : agent.capabilities()) {
    if (capability.supported()) names.push_back(capability.probe());
  }
  return names.empty() ? "-" : absl::StrJoin(names, " ");
}

// "+3.2 ms"; "" before the first estimate.
std::string ClockOffset(const v1::AgentInfo& agent) {
  if (!agent.has_clock()) return "";
  double ms = absl::ToDoubleMilliseconds(FromProto(agent.clock().offset()));
  if (std::fabs(ms) < 10000) return absl::StrFormat("%+.1f ms", ms);
  return absl::StrFormat("%+.1f s", ms / 1000);
}

std::string AgentNotes(const v1::ListAgentsResponse& agents, const View& view) {
  std::string notes;
  for (const v1::AgentInfo& agent : agents.agents()) {
    if (agent.state() == v1::AGENT_STATE_REVOKED) continue;
    for (const v1::Message& warning : agent.warnings()) {
      absl::StrAppend(&notes, Warning(agent.subject(), view.Say(warning), view));
    }
    for (const v1::Capability& capability : agent.capabilities()) {
      if (!capability.has_reason()) continue;
      absl::StrAppend(&notes, Warning(absl::StrCat(agent.subject(), " ", capability.probe()),
                                      view.Say(capability.reason()), view));
    }
  }
  return notes;
}

}  // namespace

std::string Agents(const v1::ListAgentsResponse& agents, const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(agents, view.language));
  const bool table = view.format == term::OutputFormat::kTable;
  if (agents.agents().empty() && table) return view.Say("cli.no_agents") + "\n";
  Grid grid({{"agent"},
             {"subject_kind"},
             {"agent_state"},
             {"probes"},
             {"running", term::Align::kRight},
             {"clock_offset", term::Align::kRight},
             {"last_seen"},
             {"version"},
             {"host"},
             {"peer", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
             {"certificate_expires", term::Align::kLeft, term::Overflow::kTruncate,
              GridColumn::Where::kCsv},
             {"agent_id", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv}});
  for (const v1::AgentInfo& agent : agents.agents()) {
    std::string offset_ms =
        agent.has_clock()
            ? absl::StrCat(absl::ToDoubleMilliseconds(FromProto(agent.clock().offset())))
            : "";
    grid.AddRow(
        {agent.subject(),
         {EnumText(agent.subject_kind(), view), EnumName(agent.subject_kind())},
         {EnumText(agent.state(), view), EnumName(agent.state()), AgentStyle(agent.state())},
         Probes(agent),
         absl::StrCat(agent.running_tasks()),
         {ClockOffset(agent), offset_ms},
         {FormatTime(agent.last_seen_at(), view), MachineTime(agent.last_seen_at())},
         agent.version(),
         agent.hostname(),
         agent.peer(),
         MachineTime(agent.certificate_expires_at()),
         agent.agent_id()});
  }
  std::string out = grid.Render(view);
  if (table) absl::StrAppend(&out, AgentNotes(agents, view));
  return out;
}

std::string Token(const v1::CreateTokenRequest& request, const v1::CreateTokenResponse& token,
                  const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(token, view.language));
  if (view.format == term::OutputFormat::kCsv) {
    return term::CsvRow({"subject_kind", "subject", "token", "expires_at", "ca_fingerprint",
                         "coordinator_address", "join_command"}) +
           term::CsvRow({EnumName(request.subject_kind()), request.subject(), token.token(),
                         MachineTime(token.expires_at()), token.ca_fingerprint(),
                         token.coordinator_address(), token.join_command()});
  }
  const char* where = request.subject_kind() == v1::SUBJECT_KIND_PERSON ? "cli.token_for_person"
                                                                        : "cli.token_for_agent";
  return absl::StrCat(
      view.Say(where,
               {{"kind", EnumText(request.subject_kind(), view)}, {"name", request.subject()}}),
      "\n\n  ", token.join_command(), "\n\n",
      view.Say("cli.token_expires", {{"time", FormatTime(token.expires_at(), view)}}), "\n");
}

std::string Revoked(const v1::RevokeRequest& request, const v1::RevokeResponse& response,
                    const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(response, view.language));
  if (view.format == term::OutputFormat::kCsv) {
    return term::CsvRow({"subject_kind", "subject", "certificates"}) +
           term::CsvRow({EnumName(request.subject_kind()), request.subject(),
                         absl::StrCat(response.certificates())});
  }
  return view.Say("cli.revoked", {{"kind", EnumText(request.subject_kind(), view)},
                                  {"name", request.subject()},
                                  {"count", absl::StrCat(response.certificates())}}) +
         "\n";
}

std::string WhoAmI(const v1::WhoAmIResponse& me, const std::string& coordinator_address,
                   const View& view) {
  if (view.format == term::OutputFormat::kJson) {
    nlohmann::ordered_json json = ToJson(me, view.language);
    json["coordinator_address"] = coordinator_address;
    return Pretty(json);
  }
  Fields fields;
  fields.Add("person", me.person());
  fields.Add("role", EnumText(me.role(), view), EnumName(me.role()));
  fields.Add("certificate_expires", FormatTime(me.certificate_expires_at(), view),
             MachineTime(me.certificate_expires_at()));
  fields.Add("coordinator", me.coordinator());
  fields.Add("coordinator_address", coordinator_address);
  fields.Add("version", me.version());
  fields.Add("coordinator_time", FormatTime(me.time(), view), MachineTime(me.time()));
  return fields.Render(view);
}

std::string Applied(const v1::ApplyResponse& response, bool dry_run, const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(response, view.language));
  if (view.format == term::OutputFormat::kCsv) {
    std::string out = term::CsvRow({"document_kind", "document", "apply_action", "changes"});
    for (const v1::AppliedDocument& document : response.documents()) {
      absl::StrAppend(&out,
                      term::CsvRow({document.kind(), document.name(), EnumName(document.action()),
                                    absl::StrJoin(document.changes(), "\n")}));
    }
    return out;
  }
  std::string out;
  for (const v1::AppliedDocument& document : response.documents()) {
    term::Style style =
        document.action() == v1::APPLY_ACTION_UNCHANGED ? term::Style::kDim : term::Style::kGood;
    absl::StrAppend(
        &out,
        term::Paint(view.Say("cli.applied",
                             {{"kind", view.Say(absl::StrCat("cli.document.", document.kind()))},
                              {"name", document.name()},
                              {"action", EnumText(document.action(), view)}}),
                    style, view.terminal.colour),
        "\n");
    for (const std::string& change : document.changes()) {
      absl::StrAppend(&out, "    ", term::Printable(change), "\n");
    }
  }
  if (dry_run) absl::StrAppend(&out, view.Say("cli.dry_run"), "\n");
  return out;
}

}  // namespace assay::render
