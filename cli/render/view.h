// How the reader wants to see things, and the small words of every view.
//
// Everything in cli/render takes messages and returns text: no network, no terminal, no clock.
#ifndef ASSAY_CLI_RENDER_VIEW_H_
#define ASSAY_CLI_RENDER_VIEW_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "assay/v1/message.pb.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/term/output.h"
#include "common/term/terminal.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/generated_enum_reflection.h"

namespace assay::render {

struct View {
  Language language = Language::kEnglish;
  term::OutputFormat format = term::OutputFormat::kTable;
  term::Terminal terminal;
  absl::TimeZone zone;

  std::string Say(absl::string_view id, const MessageArgs& args = {}) const {
    return Text(language, id, args);
  }
  std::string Say(const v1::Message& message) const { return Render(language, message); }
};

// "2026-12-01 21:00:03 +08:00"; "-" where there is none.
std::string FormatTime(const google::protobuf::Timestamp& time, const View& view);
std::string FormatTime(absl::Time time, const View& view);
// RFC 3339 in UTC, for machines; "" where there is none.
std::string MachineTime(const google::protobuf::Timestamp& time);
// "21:00:03", for lines that are read as they come.
std::string FormatClock(absl::Time time, const View& view);
// Whole seconds: "2m10s", "3d4h5m"; "0s" for what is not positive.
std::string FormatSpan(absl::Duration duration);

// The enumerator for machines: "off_peak" for WINDOW_ROLE_OFF_PEAK; its number where this version
// doesn't know it.
std::string EnumName(const google::protobuf::EnumDescriptor& type, int value);
template <typename Enum>
std::string EnumName(Enum value) {
  return EnumName(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}
// The enumerator for people: catalogue entry "cli.run_state.active" for RUN_STATE_ACTIVE.
std::string EnumText(const google::protobuf::EnumDescriptor& type, int value, Language language);
template <typename Enum>
std::string EnumText(Enum value, const View& view) {
  return EnumText(*google::protobuf::GetEnumDescriptor<Enum>(), value, view.language);
}

// "########------" of `width` columns; the whole width only at 1.
std::string Bar(double fraction, int width);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_VIEW_H_
