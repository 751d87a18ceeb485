#include "common/term/table.h"

#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "common/term/width.h"

namespace assay::term {
namespace {

Table Verdicts() {
  Table table({{"criterion"}, {"value", Align::kRight}, {"why", Align::kLeft, Overflow::kWrap}});
  table.AddRow({"peak-loss", Cell("1.2 %", Style::kBad), "the whole interval is above 0.5 %"});
  table.AddRow({"首字节", "35 ms", "样本足够"});
  return table;
}

TEST(TableTest, AlignsByDisplayWidth) {
  EXPECT_EQ(Verdicts().Render(0, false),
            "criterion  value  why\n"
            "peak-loss  1.2 %  the whole interval is above 0.5 %\n"
            "首字节     35 ms  样本足够\n");
}

TEST(TableTest, WrapsBeforeItTruncates) {
  EXPECT_EQ(Verdicts().Render(44, false),
            "criterion  value  why\n"
            "peak-loss  1.2 %  the whole interval is\n"
            "                  above 0.5 %\n"
            "首字节     35 ms  样本足够\n");
}

TEST(TableTest, FitsEveryWidthThatHasRoomForItsColumns) {
  for (int width = 4 * 3 + 2 * 2; width < 70; ++width) {
    std::string text = Verdicts().Render(width, false);
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(DisplayWidth(line), width) << text;
    }
  }
}

TEST(TableTest, TruncatesTheWidestColumn) {
  Table table({{"name"}, {"address"}});
  table.AddRow({"hk-gpu-01", "2001:db8:1234:5678:9abc:def0:1234:5678"});
  EXPECT_EQ(table.Render(24, false),
            "name       address\n"
            "hk-gpu-01  2001:db8:123…\n");
}

TEST(TableTest, ColoursTextAndNotPadding) {
  Table table({{"a"}, {"n", Align::kRight}});
  table.AddRow({Cell("x", Style::kGood), Cell("7", Style::kBad)});
  table.AddRow({"long", "100"});
  EXPECT_EQ(table.Render(0, true),
            "\033[1ma\033[0m       \033[1mn\033[0m\n"
            "\033[32mx\033[0m       \033[31m7\033[0m\n"
            "long  100\n");
}

TEST(TableTest, DisarmsEscapesInCells) {
  Table table({{"error"}});
  table.AddRow({"\033[2Jgone"});
  EXPECT_EQ(table.Render(0, false), "error\n\uFFFD[2Jgone\n");
}

TEST(TableTest, FillsMissingCellsAndDropsExtraOnes) {
  Table table({{"a"}, {"b"}});
  table.AddRow({"1"});
  table.AddRow({"1", "2", "3"});
  EXPECT_EQ(table.Render(0, false), "a  b\n1\n1  2\n");
}

TEST(TableTest, CsvKeepsEverything) {
  EXPECT_EQ(Verdicts().RenderCsv(),
            "criterion,value,why\r\n"
            "peak-loss,1.2 %,the whole interval is above 0.5 %\r\n"
            "首字节,35 ms,样本足够\r\n");
}

}  // namespace
}  // namespace assay::term
