#include "agent/probe/service/http_proxy.h"

#include <gtest/gtest.h>

#include <map>

namespace assay::agent::service {
namespace {

struct ProxyCase {
  std::map<std::string, std::string> environment;
  bool secure;
  const char* host;
  const char* shown;  // "": none
  bool resolves_names;
};

TEST(HttpProxyTest, FollowsCurlsRules) {
  const ProxyCase cases[] = {
      {{}, false, "a.example", "", false},
      {{{"http_proxy", "proxy:3128"}}, false, "a.example", "http://proxy:3128", true},
      {{{"http_proxy", "proxy:3128"}}, true, "a.example", "", false},
      {{{"HTTP_PROXY", "proxy:3128"}}, false, "a.example", "", false},
      {{{"HTTPS_PROXY", "http://proxy:3128/"}}, true, "a.example", "http://proxy:3128", true},
      {{{"ALL_PROXY", "socks5://proxy"}}, true, "a.example", "socks5://proxy", false},
      {{{"all_proxy", "SOCKS5H://proxy"}}, false, "a.example", "socks5h://proxy", true},
      {{{"http_proxy", "http://u:p@w@proxy:1"}}, false, "a.example", "http://proxy:1", true},
      {{{"http_proxy", "proxy"}, {"NO_PROXY", "*"}}, false, "a.example", "", false},
      {{{"http_proxy", "proxy"}, {"no_proxy", "b.example, .example"}},
       false,
       "A.Example",
       "",
       false},
      {{{"http_proxy", "proxy"}, {"no_proxy", "ample"}}, false, "a.example", "http://proxy", true},
      {{{"http_proxy", "proxy"}, {"no_proxy", "a.example"}}, false, "a.example.", "", false},
      {{{"http_proxy", "proxy"}, {"no_proxy", "10.0.0.0/8"}}, false, "10.1.2.3", "", false},
      {{{"http_proxy", "proxy"}, {"no_proxy", "10.0.0.0/8"}},
       false,
       "11.1.2.3",
       "http://proxy",
       true},
      {{{"http_proxy", "proxy"}, {"no_proxy", "[::1]"}}, false, "::1", "", false},
      {{{"http_proxy", "proxy"}, {"no_proxy", ""}, {"NO_PROXY", "a.example"}},
       false,
       "a.example",
       "",
       false},
  };
  for (const ProxyCase& c : cases) {
    Proxy proxy =
        ChooseProxy(c.secure, c.host, [&c](const char* name) -> std::optional<std::string> {
          auto found = c.environment.find(name);
          if (found == c.environment.end()) return std::nullopt;
          return found->second;
        });
    EXPECT_EQ(proxy.shown, c.shown) << c.host;
    EXPECT_EQ(proxy.url.empty(), proxy.shown.empty());
    if (!proxy.url.empty()) {
      EXPECT_EQ(proxy.resolves_names, c.resolves_names) << c.shown;
    }
  }
}

}  // namespace
}  // namespace assay::agent::service
