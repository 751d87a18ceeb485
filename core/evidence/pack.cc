// Evidence as it is stored: one zstd frame around the deterministic serialisation.
#include <zstd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "core/evidence/derive.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace assay::evidence {
namespace {

// Fixed, so that the same evidence gives the same bytes.
constexpr int kCompressionLevel = 6;
constexpr size_t kMaxUnpackedBytes = size_t{64} << 20;
// 2^26 = 64 MiB: no frame that we accept needs a larger window.
constexpr int kMaxWindowLog = 26;

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

absl::Status Unreadable(absl::string_view detail) {
  return Error(absl::StatusCode::kInvalidArgument, "probe.evidence_unreadable",
               {{"detail", std::string(detail)}});
}

}  // namespace

absl::StatusOr<std::string> Pack(const v1::Evidence& evidence) {
  std::string plain;
  {
    google::protobuf::io::StringOutputStream stream(&plain);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!evidence.SerializeToCodedStream(&coded)) return Unreadable("it cannot be serialised");
  }
  if (plain.size() > kMaxUnpackedBytes) {
    return Error(absl::StatusCode::kResourceExhausted, "probe.evidence_too_large",
                 {{"bytes", absl::StrCat(plain.size())}});
  }
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  size_t size =
      ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kCompressionLevel);
  if (ZSTD_isError(size)) return Unreadable(ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

absl::StatusOr<v1::Evidence> Unpack(absl::string_view evidence_zstd) {
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  if (context == nullptr) return Unreadable("out of memory");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  // The size that a frame claims is not believed: output grows as it comes, up to the limit.
  std::string plain;
  ZSTD_inBuffer input{evidence_zstd.data(), evidence_zstd.size(), 0};
  std::string block(ZSTD_DStreamOutSize(), '\0');
  size_t hint = 1;
  while (hint != 0) {
    ZSTD_outBuffer output{block.data(), block.size(), 0};
    size_t before = input.pos;
    hint = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(hint)) return Unreadable(ZSTD_getErrorName(hint));
    if (plain.size() + output.pos > kMaxUnpackedBytes) {
      return Unreadable("it unpacks to more than 64 MiB");
    }
    plain.append(block.data(), output.pos);
    bool stuck = input.pos == before && output.pos == 0;
    if (hint != 0 && stuck) return Unreadable("it ends early");
  }
  if (input.pos != input.size) return Unreadable("bytes after its end");
  v1::Evidence evidence;
  if (!evidence.ParseFromString(plain)) return Unreadable("it is not evidence");
  return evidence;
}

}  // namespace assay::evidence
