#include "common/tls/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace assay::tls {
namespace {

using Variables = std::map<std::string, std::string>;

Environment From(const Variables& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

struct ProxyCase {
  const char* name;
  const char* host;
  Variables variables;
  const char* expected;  // "host:port user", "" for none
};

class ProxyTest : public ::testing::TestWithParam<ProxyCase> {};

TEST_P(ProxyTest, IsChosen) {
  auto proxy = ProxyFor({GetParam().host, 7443}, From(GetParam().variables));

  ASSERT_TRUE(proxy.ok()) << proxy.status();
  std::string found = proxy->has_value() ? (*proxy)->address.ToString() : "";
  if (proxy->has_value() && !(*proxy)->user_info.empty()) found += " " + (*proxy)->user_info;
  EXPECT_EQ(found, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, ProxyTest,
    ::testing::Values(
        ProxyCase{"NothingSet", "c.example", {}, ""},
        ProxyCase{"Plain", "c.example", {{"https_proxy", "http://p:3128"}}, "p:3128"},
        ProxyCase{"UpperCase", "c.example", {{"HTTPS_PROXY", "http://p:3128/"}}, "p:3128"},
        ProxyCase{"UpperCaseHttpIsNotForUs", "c.example", {{"HTTP_PROXY", "http://p:3128"}}, ""},
        ProxyCase{"GrpcFirst",
                  "c.example",
                  {{"grpc_proxy", "http://g:1"}, {"https_proxy", "http://p:2"}},
                  "g:1"},
        ProxyCase{"HttpLast", "c.example", {{"http_proxy", "h:8"}}, "h:8"},
        ProxyCase{
            "EmptyMeansNone", "c.example", {{"https_proxy", ""}, {"http_proxy", "http://h:8"}}, ""},
        ProxyCase{"DefaultPort", "c.example", {{"https_proxy", "http://p"}}, "p:80"},
        ProxyCase{
            "Ipv6", "c.example", {{"https_proxy", "http://[2001:db8::1]:3"}}, "[2001:db8::1]:3"},
        ProxyCase{"User", "c.example", {{"https_proxy", "http://u:p%40ss@p:3"}}, "p:3 u:p@ss"},
        ProxyCase{
            "UserWithRawAt", "c.example", {{"https_proxy", "http://u:p@ss@p:3"}}, "p:3 u:p@ss"},
        ProxyCase{"Loopback4", "127.0.0.9", {{"https_proxy", "http://p:3"}}, ""},
        ProxyCase{"Loopback6", "::1", {{"https_proxy", "http://p:3"}}, ""},
        ProxyCase{"Localhost", "localhost", {{"https_proxy", "http://p:3"}}, ""},
        ProxyCase{"NoProxyName",
                  "c.example",
                  {{"https_proxy", "p:3"}, {"no_proxy", "other, C.example"}},
                  ""},
        ProxyCase{"NoProxyDomain",
                  "a.lab.example",
                  {{"https_proxy", "p:3"}, {"NO_PROXY", ".lab.example"}},
                  ""},
        ProxyCase{"NoProxyDomainItself",
                  "lab.example",
                  {{"https_proxy", "p:3"}, {"NO_PROXY", ".lab.example"}},
                  ""},
        ProxyCase{"NoProxyOtherDomain",
                  "lab.example.org",
                  {{"https_proxy", "p:3"}, {"no_proxy", "lab.example"}},
                  "p:3"},
        ProxyCase{"NoProxyAll", "c.example", {{"https_proxy", "p:3"}, {"no_proxy", "*"}}, ""},
        ProxyCase{"NoProxyNetworkIn",
                  "10.9.8.7",
                  {{"https_proxy", "p:3"}, {"no_proxy", "10.8.0.0/14"}},
                  ""},
        ProxyCase{"NoProxyNetworkOut",
                  "10.12.0.1",
                  {{"https_proxy", "p:3"}, {"no_proxy", "10.8.0.0/14"}},
                  "p:3"},
        ProxyCase{"NoProxyNetwork6",
                  "2001:db8::5",
                  {{"https_proxy", "p:3"}, {"no_proxy", "2001:db8::/32"}},
                  ""},
        ProxyCase{"NoProxyOfTheOtherFamily",
                  "10.0.0.1",
                  {{"https_proxy", "p:3"}, {"no_proxy", "::/0"}},
                  "p:3"},
        ProxyCase{"NoGrpcProxyHidesNoProxy",
                  "c.example",
                  {{"https_proxy", "p:3"}, {"no_grpc_proxy", "x"}, {"no_proxy", "c.example"}},
                  "p:3"},
        ProxyCase{"EmptyEntriesMatchNothing",
                  "c.example",
                  {{"https_proxy", "p:3"}, {"no_proxy", ",, "}},
                  "p:3"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(BadProxyTest, IsNamedWithoutItsPassword) {
  for (const char* value : {"socks5://u:secret@p:3", "https://u:secret@p:3", "http://u:secret@",
                            "http://u:secret@p:99999", "u:secret@p q"}) {
    auto proxy = ProxyFor({"c.example", 1}, From({{"https_proxy", value}}));

    EXPECT_EQ(proxy.status().code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(std::string(proxy.status().message()), ::testing::HasSubstr("https_proxy"));
    EXPECT_THAT(proxy.status().ToString(), ::testing::Not(::testing::HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace assay::tls
