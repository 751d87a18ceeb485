#include "common/base/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

std::set<std::string> Placeholders(absl::string_view pattern) {
  std::set<std::string> names;
  for (size_t open = pattern.find('{'); open != absl::string_view::npos;
       open = pattern.find('{', open + 1)) {
    names.insert(std::string(pattern.substr(open + 1, pattern.find('}', open) - open - 1)));
  }
  return names;
}

TEST(CatalogueTest, IdsAreUnique) {
  std::set<std::string> seen;
  for (const CatalogueEntry& entry : Catalogue())
    EXPECT_TRUE(seen.insert(entry.id).second) << entry.id;
}

TEST(CatalogueTest, BothLanguagesUseTheSamePlaceholders) {
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_EQ(Placeholders(entry.english), Placeholders(entry.chinese)) << entry.id;
  }
}

TEST(MessageTest, ErrorIsRenderedInTheReadersLanguage) {
  absl::Status status =
      Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", "run-7"}});

  EXPECT_EQ(status.message(), "no run run-7; `assay run list` shows the ones there are");
  EXPECT_EQ(Render(Language::kChinese, status), "没有运行 run-7；可用 assay run list 查看现有运行");
}

TEST(MessageTest, UnknownIdShowsItsArguments) {
  EXPECT_EQ(Text(Language::kEnglish, "future.thing", {{"b", "2"}, {"a", "1"}}),
            "future.thing a=1 b=2");
}

TEST(MessageTest, StatusWithoutMessageGivesItsText) {
  EXPECT_EQ(Render(Language::kChinese, absl::InternalError("plain")), "plain");
}

}  // namespace
}  // namespace assay
