#include "core/metric/catalogue.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace assay::metric {
namespace {

bool HasHan(absl::string_view text) {
  // U+4E00 to U+9FFF is E4 B8 80 to E9 BF BF in UTF-8.
  for (unsigned char c : text) {
    if (c >= 0xE4 && c <= 0xE9) return true;
  }
  return false;
}

TEST(MetricCatalogue, NamesAreUniqueAndFoundAgain) {
  std::set<std::string> names;
  for (const MetricInfo& info : Catalogue()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(Find(info.name), &info);
  }
  EXPECT_EQ(Find("icmp.los_ratio"), nullptr);
  EXPECT_EQ(Find(""), nullptr);
}

// The names are a promise to scripts and stored criteria.
TEST(MetricCatalogue, KeepsItsPromisedNames) {
  for (const char* name :
       {"icmp.loss_ratio", "icmp.rtt_ms", "icmp.pdv_ms", "icmp.ipdv_ms", "icmp.duplicate_ratio",
        "icmp.late_ratio", "tcp.failure_ratio", "tcp.connect_ms", "tcp.syn_retransmit_ratio",
        "http.failure_ratio", "http.name_lookup_ms", "http.connect_ms", "http.tls_ms",
        "http.first_byte_ms", "http.total_ms", "http.speed_bytes_per_s"}) {
    EXPECT_NE(Find(name), nullptr) << name;
  }
}

TEST(MetricCatalogue, NameUnitShapeAndStatisticAgree) {
  for (const MetricInfo& info : Catalogue()) {
    SCOPED_TRACE(info.name);
    absl::string_view name = info.name;
    EXPECT_EQ(absl::EndsWith(name, "_ratio"), info.unit == v1::UNIT_RATIO);
    EXPECT_EQ(absl::EndsWith(name, "_ms"), info.unit == v1::UNIT_MILLISECONDS);
    EXPECT_EQ(absl::EndsWith(name, "_bytes_per_s"), info.unit == v1::UNIT_BYTES_PER_SECOND);
    EXPECT_EQ(info.shape == Shape::kProportion, info.unit == v1::UNIT_RATIO);
    EXPECT_EQ(info.shape == Shape::kProportion, info.default_statistic == v1::STATISTIC_RATIO);
    EXPECT_EQ(info.family == Family::kService, absl::StartsWith(name, "http."));
    EXPECT_EQ(info.direction == Direction::kHigherIsBetter, name == "http.speed_bytes_per_s");
  }
}

TEST(MetricCatalogue, IsDefinedInBothLanguagesWithASource) {
  for (const MetricInfo& info : Catalogue()) {
    SCOPED_TRACE(info.name);
    EXPECT_STRNE(info.source, "");
    EXPECT_TRUE(absl::EndsWith(info.definition_en, ".")) << info.definition_en;
    EXPECT_FALSE(HasHan(info.definition_en));
    EXPECT_TRUE(absl::EndsWith(info.definition_zh, "。")) << info.definition_zh;
    EXPECT_TRUE(HasHan(info.definition_zh));
  }
}

TEST(MetricCatalogue, UnitsHaveSymbols) {
  EXPECT_EQ(UnitSymbol(v1::UNIT_RATIO), "%");
  EXPECT_EQ(UnitSymbol(v1::UNIT_MILLISECONDS), "ms");
  EXPECT_EQ(UnitSymbol(v1::UNIT_BYTES_PER_SECOND), "B/s");
  EXPECT_EQ(UnitSymbol(v1::UNIT_BITS_PER_SECOND), "bit/s");
  EXPECT_EQ(UnitSymbol(v1::UNIT_BYTES), "B");
  EXPECT_EQ(UnitSymbol(v1::UNIT_COUNT), "");
}

}  // namespace
}  // namespace assay::metric
