#include "common/term/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <map>

#include "common/term/terminal.h"

namespace assay::term {
namespace {

Environment Of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST(OutputFormatTest, KnowsThreeNames) {
  EXPECT_EQ(*ParseOutputFormat("table"), OutputFormat::kTable);
  EXPECT_EQ(*ParseOutputFormat("JSON"), OutputFormat::kJson);
  EXPECT_EQ(*ParseOutputFormat("csv"), OutputFormat::kCsv);
  absl::Status refused = ParseOutputFormat("xml").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Render(Language::kChinese, refused),
            "未知输出格式“xml”；请写 --output table、--output json 或 --output csv");
}

struct LanguageCase {
  const char* flag;
  std::map<std::string, std::string> environment;
  Language expected;
};

TEST(LanguageTest, TheFlagThenTheEnvironmentInOrder) {
  const LanguageCase cases[] = {
      {"", {}, Language::kEnglish},
      {"zh", {{"ASSAY_LANG", "en"}}, Language::kChinese},
      {"en", {{"LANG", "zh_CN.UTF-8"}}, Language::kEnglish},
      {"", {{"LANG", "zh_CN.UTF-8"}}, Language::kChinese},
      {"", {{"LC_ALL", "C"}, {"LANG", "zh_CN.UTF-8"}}, Language::kEnglish},
      {"", {{"LC_ALL", ""}, {"LANG", "zh_CN.UTF-8"}}, Language::kChinese},
      {"", {{"LC_MESSAGES", "zh_HK"}, {"LANG", "en_GB"}}, Language::kChinese},
      {"", {{"ASSAY_LANG", "zh"}, {"LC_ALL", "C"}}, Language::kChinese},
  };
  for (const LanguageCase& c : cases) {
    absl::StatusOr<Language> language = ChooseLanguage(c.flag, Of(c.environment));
    ASSERT_TRUE(language.ok());
    EXPECT_EQ(*language, c.expected) << c.flag;
  }
}

TEST(LanguageTest, AnUnknownFlagIsAnError) {
  EXPECT_EQ(ChooseLanguage("fr", Of({})).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LanguageTest, IsKnownBeforeTheCommandLineIsParsed) {
  auto of = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "assay");
    return LanguageOfCommandLine(static_cast<int>(arguments.size()), arguments.data(),
                                 Of({{"LANG", "en_GB.UTF-8"}}));
  };
  EXPECT_EQ(of({}), Language::kEnglish);
  EXPECT_EQ(of({"probe", "--lang", "zh", "--nonsense"}), Language::kChinese);
  EXPECT_EQ(of({"--lang=zh"}), Language::kChinese);
  EXPECT_EQ(of({"--lang=zh", "--lang", "en"}), Language::kEnglish);
  EXPECT_EQ(of({"--lang"}), Language::kEnglish);
  EXPECT_EQ(of({"--lang", "fr"}), Language::kEnglish);
  EXPECT_EQ(of({"--", "--lang", "zh"}), Language::kEnglish);
}

TEST(CsvTest, QuotesAsTheStandardSays) {
  EXPECT_EQ(CsvRow({"plain", "a,b", "say \"hi\"", "two\nlines", "", " spaced "}),
            "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",, spaced \r\n");
}

TEST(TerminalTest, APipeHasNoWidthNoColourAndShowsNoProgress) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  Terminal terminal = Inspect(ends[1], Of({{"TERM", "xterm"}, {"COLUMNS", "30"}}));
  EXPECT_FALSE(terminal.interactive);
  EXPECT_FALSE(terminal.colour);
  EXPECT_EQ(terminal.width, 0);
  {
    LiveArea area(ends[1], terminal);
    area.Show("half way");
  }
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), -1);
  close(ends[0]);
  close(ends[1]);
}

class PtyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    winsize size{.ws_row = 5, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
  }
  void TearDown() override {
    close(master_);
    close(slave_);
  }
  std::string Written() {
    char buffer[1024];
    ssize_t got = read(master_, buffer, sizeof buffer);
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  }
  int master_ = -1;
  int slave_ = -1;
};

TEST_F(PtyTest, ATerminalHasItsSize) {
  Terminal terminal = Inspect(slave_, Of({{"TERM", "xterm"}}));
  EXPECT_TRUE(terminal.interactive);
  EXPECT_TRUE(terminal.colour);
  EXPECT_EQ(terminal.width, 40);
  EXPECT_EQ(terminal.height, 5);
}

TEST_F(PtyTest, TheEnvironmentTurnsThingsOff) {
  EXPECT_FALSE(Inspect(slave_, Of({{"TERM", "xterm"}, {"NO_COLOR", "1"}})).colour);
  EXPECT_TRUE(Inspect(slave_, Of({{"TERM", "xterm"}, {"NO_COLOR", ""}})).colour);
  EXPECT_FALSE(Inspect(slave_, Of({{"TERM", "dumb"}})).interactive);
  EXPECT_EQ(Inspect(slave_, Of({{"TERM", "xterm"}, {"COLUMNS", "100"}})).width, 100);
}

TEST_F(PtyTest, ProgressIsRedrawnInPlaceAndRemoved) {
  LiveArea area(slave_, Inspect(slave_, Of({{"TERM", "xterm"}})));
  area.Show("1\n2\n3\n4\n5\n6");  // one line more than fits above the cursor's
  std::string first = Written();
  EXPECT_NE(first.find("4"), std::string::npos);
  EXPECT_EQ(first.find("5"), std::string::npos);
  area.Show("done");
  EXPECT_EQ(Written().substr(0, 8), "\033[4A\r\033[J");
  area.Clear();
  EXPECT_EQ(Written(), "\033[1A\r\033[J");
  area.Clear();
}

}  // namespace
}  // namespace assay::term
