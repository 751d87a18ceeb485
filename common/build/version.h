// What this build is.
#ifndef ASSAY_COMMON_BUILD_VERSION_H_
#define ASSAY_COMMON_BUILD_VERSION_H_

namespace assay {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace assay

#endif  // ASSAY_COMMON_BUILD_VERSION_H_
