// Abseil's times and the protocol's, one into the other.
#ifndef ASSAY_COMMON_BASE_PROTO_TIME_H_
#define ASSAY_COMMON_BASE_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace assay {

inline google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration proto;
  absl::Duration rest;
  proto.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  proto.set_nanos(static_cast<int32_t>(rest / absl::Nanoseconds(1)));
  return proto;
}

inline google::protobuf::Timestamp ToProto(absl::Time time) {
  google::protobuf::Timestamp proto;
  int64_t seconds = absl::ToUnixSeconds(time);  // rounds down, also before 1970
  proto.set_seconds(seconds);
  proto.set_nanos(
      static_cast<int32_t>((time - absl::FromUnixSeconds(seconds)) / absl::Nanoseconds(1)));
  return proto;
}

inline absl::Duration FromProto(const google::protobuf::Duration& proto) {
  return absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

inline absl::Time FromProto(const google::protobuf::Timestamp& proto) {
  return absl::FromUnixSeconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

}  // namespace assay

#endif  // ASSAY_COMMON_BASE_PROTO_TIME_H_
