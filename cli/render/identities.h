// Agents, tokens, people.
#ifndef ASSAY_CLI_RENDER_IDENTITIES_H_
#define ASSAY_CLI_RENDER_IDENTITIES_H_

#include <string>

#include "assay/v1/control.pb.h"
#include "cli/render/view.h"

namespace assay::render {

std::string Agents(const v1::ListAgentsResponse& agents, const View& view);
// Contains the token: print it, never log it.
std::string Token(const v1::CreateTokenRequest& request, const v1::CreateTokenResponse& token,
                  const View& view);
std::string Revoked(const v1::RevokeRequest& request, const v1::RevokeResponse& response,
                    const View& view);
std::string WhoAmI(const v1::WhoAmIResponse& me, const std::string& coordinator_address,
                   const View& view);

// One line a document, changed fields under it; with `dry_run` in the conditional.
std::string Applied(const v1::ApplyResponse& response, bool dry_run, const View& view);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_IDENTITIES_H_
