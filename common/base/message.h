// Sentences for people, in Chinese and English, from one catalogue (common/base/messages/).
//
// A failure is made with Error(): an absl::Status whose text is English and whose payload is the
// language-independent assay.v1.Message. Whoever shows it calls Render() with the reader's
// language. Thread-safe: the catalogue is constant.
#ifndef ASSAY_COMMON_BASE_MESSAGE_H_
#define ASSAY_COMMON_BASE_MESSAGE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "assay/v1/message.pb.h"

namespace assay {

enum class Language { kEnglish, kChinese };

// "zh", "zh_CN.UTF-8", "zh-Hans" give Chinese, anything else English.
Language ParseLanguage(absl::string_view name);

// Values of a sentence's placeholders, by name.
using MessageArgs = std::vector<std::pair<std::string, std::string>>;

// One entry of the catalogue. Placeholders are written {name} and are the same in both languages.
struct CatalogueEntry {
  const char* id;  // "area.what", for example "document.unknown_key"
  const char* english;
  const char* chinese;
};

// Every entry; ids are unique.
const std::vector<CatalogueEntry>& Catalogue();

v1::Message MakeMessage(absl::string_view id, const MessageArgs& args = {});

// The sentence in `language`. An id that this version doesn't know (a newer peer) gives the id and
// its arguments, so that nothing is hidden.
std::string Render(Language language, const v1::Message& message);
std::string Text(Language language, absl::string_view id, const MessageArgs& args = {});

// An error that carries the message `id`. `code` must not be kOk.
absl::Status Error(absl::StatusCode code, absl::string_view id, const MessageArgs& args = {});

// An error that carries a message received from elsewhere.
absl::Status ErrorFromMessage(absl::StatusCode code, const v1::Message& message);

// The message that a status carries, if any.
std::optional<v1::Message> MessageOf(const absl::Status& status);

// The status in the reader's language; its plain text where it carries no message. "" for OK.
std::string Render(Language language, const absl::Status& status);

}  // namespace assay

#endif  // ASSAY_COMMON_BASE_MESSAGE_H_
