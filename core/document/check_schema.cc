#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "core/document/checker.h"
#include "core/document/schema.h"
#include "google/protobuf/duration.pb.h"

namespace assay::document {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;

constexpr size_t kLongestText = 4'000;  // bytes
constexpr int kLongestList = 10'000;
constexpr int64_t kLongestSeconds = 36'500LL * 86'400;

class SchemaChecker {
 public:
  explicit SchemaChecker(const Checker& checker) : checker_(checker) {}

  absl::Status CheckMessage(const Message& message, const std::string& path) {
    const Descriptor& descriptor = *message.GetDescriptor();
    const auto& reflection = *message.GetReflection();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const FieldDescriptor& field = *descriptor.field(i);
      bool present = field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                                         : reflection.HasField(message, &field);
      if (!present && IsRequired(field)) {
        return checker_.Fail(path, "document.missing_key",
                             {{"missing", KeyOf(field)}, {"where", WhereOf(descriptor, path)}});
      }
      if (present) ASSAY_RETURN_IF_ERROR(CheckField(message, field, Join(path, KeyOf(field))));
    }
    for (int i = 0; i < descriptor.real_oneof_decl_count(); ++i) {
      const OneofDescriptor& oneof = *descriptor.oneof_decl(i);
      if (reflection.HasOneof(message, &oneof)) continue;
      std::vector<std::string> known;
      known.reserve(oneof.field_count());
      for (int j = 0; j < oneof.field_count(); ++j) known.push_back(KeyOf(*oneof.field(j)));
      return checker_.Fail(
          path, "document.none_of_oneof",
          {{"known", absl::StrJoin(known, ", ")}, {"where", WhereOf(descriptor, path)}});
    }
    return absl::OkStatus();
  }

 private:
  static std::string WhereOf(const Descriptor& descriptor, const std::string& path) {
    return path.empty() ? absl::AsciiStrToLower(descriptor.name()) : path;
  }

  absl::Status CheckField(const Message& message, const FieldDescriptor& field,
                          const std::string& path) {
    const auto& reflection = *message.GetReflection();
    if (!field.is_repeated()) return CheckValue(message, field, -1, path);
    const int size = reflection.FieldSize(message, &field);
    if (size > kLongestList) {
      return checker_.Fail(path, "document.list_too_long", {{"most", absl::StrCat(kLongestList)}});
    }
    for (int i = 0; i < size; ++i) {
      ASSAY_RETURN_IF_ERROR(CheckValue(message, field, i, Indexed(path, i)));
    }
    return absl::OkStatus();
  }

  // The value of a field, or item `i` of a repeated one.
  absl::Status CheckValue(const Message& message, const FieldDescriptor& field, int i,
                          const std::string& path) {
    const auto& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        const Message& inner = i < 0 ? reflection.GetMessage(message, &field)
                                     : reflection.GetRepeatedMessage(message, &field, i);
        if (!IsDuration(field)) return CheckMessage(inner, path);
        return CheckDuration(static_cast<const google::protobuf::Duration&>(inner), path);
      }
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string text = i < 0 ? reflection.GetString(message, &field)
                                 : reflection.GetRepeatedString(message, &field, i);
        if (text.size() > kLongestText) {
          return checker_.Fail(path, "document.text_too_long",
                               {{"most", absl::StrCat(kLongestText)}});
        }
        if (i >= 0 && text.empty()) return checker_.Fail(path, "document.no_value");
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_ENUM: {
        int value = i < 0 ? reflection.GetEnumValue(message, &field)
                          : reflection.GetRepeatedEnumValue(message, &field, i);
        if (value != 0 && field.enum_type()->FindValueByNumber(value) != nullptr) {
          return absl::OkStatus();
        }
        return checker_.Fail(path, "document.unknown_word_of",
                             {{"text", absl::StrCat(value)},
                              {"known", absl::StrJoin(WordsOf(*field.enum_type()), ", ")}});
      }
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        double value = reflection.GetDouble(message, &field);
        bool ratio = UnitOf(field) == v1::UNIT_RATIO;
        if (std::isfinite(value) && value >= 0 && (!ratio || value <= 1)) return absl::OkStatus();
        return checker_.Fail(path, "document.out_of_range",
                             {{"text", absl::StrCat(value)},
                              {"least", "0"},
                              {"most", ratio ? "1" : absl::StrCat(1e308)}});
      }
      default:
        return absl::OkStatus();
    }
  }

  // By RPC, anything may be in the two fields.
  absl::Status CheckDuration(const google::protobuf::Duration& duration, const std::string& path) {
    if (duration.seconds() >= 0 && duration.seconds() <= kLongestSeconds && duration.nanos() >= 0 &&
        duration.nanos() < 1'000'000'000) {
      return absl::OkStatus();
    }
    return checker_.Fail(
        path, "document.out_of_range",
        {{"text", absl::StrCat(duration.seconds(), "s")}, {"least", "0s"}, {"most", "36500d"}});
  }

  const Checker& checker_;
};

}  // namespace

absl::Status CheckSchema(const Checker& checker, const Message& message, const std::string& path) {
  return SchemaChecker(checker).CheckMessage(message, path);
}

}  // namespace assay::document
