#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;

class DocumentsTest : public ::testing::Test {
 protected:
  TestDirectory directory_;
  std::unique_ptr<Store> store_ = OpenOrDie(directory_.File("assay.db"));

  std::vector<std::string> Names(absl::string_view kind) {
    std::vector<std::string> names;
    auto all = store_->ListDocuments(kind).value();
    for (const v1::Document& document : all) {
      names.push_back(document.has_server() ? document.server().name() : document.vantage().name());
    }
    return names;
  }
};

TEST_F(DocumentsTest, WhatWasPutIsThereAfterReopening) {
  ASSERT_TRUE(store_->PutDocuments({ServerDocument("hk-1", "seller")}).ok());
  store_.reset();
  store_ = OpenOrDie(directory_.File("assay.db"));

  absl::StatusOr<v1::Document> found = store_->GetDocument("server", "hk-1");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->SerializeAsString(), ServerDocument("hk-1", "seller").SerializeAsString());
}

TEST_F(DocumentsTest, SameNameReplacesAndOtherKindsAreApart) {
  v1::Document vantage;
  vantage.mutable_vantage()->set_name("hk-1");
  v1::Document profile;
  profile.mutable_profile()->set_name("p");
  v1::Document plan;
  plan.mutable_plan()->set_name("q");
  ASSERT_TRUE(store_->PutDocuments({ServerDocument("hk-1", "old"), vantage, profile, plan}).ok());
  ASSERT_TRUE(store_->PutDocuments({ServerDocument("hk-1", "new")}).ok());

  EXPECT_EQ(store_->GetDocument("server", "hk-1")->server().seller(), "new");
  EXPECT_TRUE(store_->GetDocument("vantage", "hk-1")->has_vantage());
  EXPECT_EQ(store_->GetDocument("profile", "p")->profile().name(), "p");
  EXPECT_EQ(store_->GetDocument("plan", "q")->plan().name(), "q");
  EXPECT_THAT(Names("server"), ElementsAre("hk-1"));
}

TEST_F(DocumentsTest, ListIsByName) {
  ASSERT_TRUE(
      store_->PutDocuments({ServerDocument("b"), ServerDocument("c"), ServerDocument("a")}).ok());

  EXPECT_THAT(Names("server"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names("vantage"), ElementsAre());
}

TEST_F(DocumentsTest, OneBadDocumentKeepsAllOut) {
  absl::Status put = store_->PutDocuments({ServerDocument("a"), v1::Document()});

  EXPECT_EQ(put.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Names("server"), ElementsAre());
}

TEST_F(DocumentsTest, UnknownNameIsNotFound) {
  absl::Status status = store_->GetDocument("plan", "none").status();

  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(IdOf(status), "server.unknown_document");
}

TEST_F(DocumentsTest, NamesAreValuesAndNeverSql) {
  const std::string odd("x'); DROP TABLE documents; --\0?1", 32);
  ASSERT_TRUE(store_->PutDocuments({ServerDocument(odd)}).ok());

  EXPECT_EQ(store_->GetDocument("server", odd)->server().name(), odd);
  EXPECT_THAT(Names("server"), ElementsAre(odd));
}

}  // namespace
}  // namespace assay::store
