#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kIdentityEntries[] = {
    {"identity.role_too_low",
     "{person} has the role {role}, and this needs {needed}; ask an admin for a certificate with "
     "that role",
     "{person} 的角色是 {role}，而此操作需要 {needed}；请向管理员申请具有该角色的证书"},
};

}  // namespace

absl::Span<const CatalogueEntry> Identity() { return kIdentityEntries; }

}  // namespace assay::messages
