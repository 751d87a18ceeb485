#include "agent/probe/service/http_url.h"

#include <gtest/gtest.h>

#include "common/base/message.h"

namespace assay::agent {
namespace {

struct UrlCase {
  const char* url;
  const char* scheme;
  const char* target;
  uint32_t port;
  const char* path;
};

TEST(HttpUrlTest, TakesUrlsApart) {
  const UrlCase cases[] = {
      {"http://a.example", "http", "a.example", 80, "/"},
      {"https://a.example/", "https", "a.example", 443, "/"},
      {"HTTPS://a.example:8443/b/c?d=e&f=%20#g", "https", "a.example", 8443, "/b/c?d=e&f=%20"},
      {"a.example:8080/x", "http", "a.example", 8080, "/x"},
      {"ftp.example", "http", "ftp.example", 80, "/"},
      {"http://[2001:db8::1]:81/", "http", "2001:db8::1", 81, "/"},
      {"http://192.0.2.1?q", "http", "192.0.2.1", 80, "/?q"},
  };
  for (const UrlCase& c : cases) {
    absl::StatusOr<v1::HttpProbe> probe = ParseHttpUrl(c.url);
    ASSERT_TRUE(probe.ok()) << c.url << probe.status();
    EXPECT_EQ(probe->scheme(), c.scheme);
    EXPECT_EQ(probe->target(), c.target);
    EXPECT_EQ(probe->port(), c.port);
    EXPECT_EQ(probe->path(), c.path);
  }
}

TEST(HttpUrlTest, RefusesWhatIsNoHttpUrl) {
  for (const char* url : {"", "http://", "ftp://a.example/", "file:///etc/passwd", "http://a b/",
                          "http://a.example:99999/", "http://a.example:x/", "http://[::1/"}) {
    EXPECT_FALSE(ParseHttpUrl(url).ok()) << url;
  }
}

TEST(HttpUrlTest, DoesNotRepeatAPassword) {
  absl::Status status = ParseHttpUrl("http://user:secret@a.example/").status();
  EXPECT_EQ(MessageOf(status).value_or(v1::Message()).id(), "probe.url_credentials");
  EXPECT_EQ(status.ToString().find("secret"), std::string::npos);
}

}  // namespace
}  // namespace assay::agent
