#include "server/store/metrics.h"

#include <bit>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/message.h"

namespace assay::store::metrics {
namespace {

constexpr char kInsertMetric[] =
    "INSERT INTO metrics (result_id, name, events, trials, samples, marks) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

absl::Status InsertOne(Connection& db, int64_t result_id, const v1::Metric& metric) {
  std::string marks = absl::StrJoin(metric.marks(), ",");
  switch (metric.value_case()) {
    case v1::Metric::kProportion:
      return db.Run(kInsertMetric, result_id, metric.name(), metric.proportion().events(),
                    metric.proportion().trials(), Null{}, marks);
    case v1::Metric::kSamples:
      return db.Run(kInsertMetric, result_id, metric.name(), Null{}, Null{},
                    Blob{PackSamples(metric.samples().values())}, marks);
    case v1::Metric::VALUE_NOT_SET:
      break;
  }
  return db.Run(kInsertMetric, result_id, metric.name(), Null{}, Null{}, Null{}, marks);
}

absl::Status TakeMarks(Connection& db, Statement& row, v1::Metric& metric) {
  std::string marks = row.TakeText();
  for (absl::string_view number : absl::StrSplit(marks, ',', absl::SkipEmpty())) {
    int mark = 0;
    if (!absl::SimpleAtoi(number, &mark)) return db.Damaged("a metric's marks are not readable");
    metric.add_marks(static_cast<v1::Mark>(mark));
  }
  return absl::OkStatus();
}

absl::Status TakeOne(Connection& db, Statement& row, v1::Metric& metric) {
  metric.set_name(row.TakeText());
  std::optional<int64_t> events = row.TakeOptionalInt();
  std::optional<int64_t> trials = row.TakeOptionalInt();
  if (events.has_value()) {
    metric.mutable_proportion()->set_events(static_cast<uint64_t>(*events));
    metric.mutable_proportion()->set_trials(static_cast<uint64_t>(trials.value_or(0)));
  }
  std::optional<absl::string_view> samples = row.TakeOptionalBlob();
  if (samples.has_value() &&
      !UnpackSamples(*samples, *metric.mutable_samples()->mutable_values())) {
    return db.Damaged("a metric's samples are not readable");
  }
  return TakeMarks(db, row, metric);
}

}  // namespace

std::string PackSamples(const google::protobuf::RepeatedField<double>& values) {
  std::string bytes;
  bytes.reserve(static_cast<size_t>(values.size()) * 8);
  for (double value : values) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(bits >> shift));
  }
  return bytes;
}

bool UnpackSamples(absl::string_view bytes, google::protobuf::RepeatedField<double>& values) {
  if (bytes.size() % 8 != 0) return false;
  values.Reserve(static_cast<int>(bytes.size() / 8));
  for (size_t start = 0; start < bytes.size(); start += 8) {
    uint64_t bits = 0;
    for (size_t i = 8; i-- > 0;) bits = bits << 8 | static_cast<uint8_t>(bytes[start + i]);
    values.Add(std::bit_cast<double>(bits));
  }
  return true;
}

absl::Status Insert(Connection& db, int64_t result_id, const std::vector<v1::Metric>& metrics) {
  for (const v1::Metric& metric : metrics) {
    absl::Status inserted = InsertOne(db, result_id, metric);
    if (absl::IsAlreadyExists(inserted)) {
      return absl::InternalError(absl::StrCat("the metric ", metric.name(), " comes twice"));
    }
    ASSAY_RETURN_IF_ERROR(inserted);
  }
  return absl::OkStatus();
}

absl::Status Take(Connection& db, int64_t result_id,
                  google::protobuf::RepeatedPtrField<v1::Metric>& metrics) {
  ASSAY_ASSIGN_OR_RETURN(Statement rows,
                         db.Query("SELECT name, events, trials, samples, marks FROM metrics "
                                  "WHERE result_id = ?1 ORDER BY number",
                                  result_id));
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return absl::OkStatus();
    ASSAY_RETURN_IF_ERROR(TakeOne(db, rows, *metrics.Add()));
  }
}

}  // namespace assay::store::metrics
