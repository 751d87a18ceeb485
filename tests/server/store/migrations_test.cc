// Migrations: the ones of this binary, and how ones of the future will be applied.
#include "server/store/migrations.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/hash/sha256.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MigrateTest : public ::testing::Test {
 protected:
  absl::Status Apply(absl::Span<const Migration> migrations) {
    absl::StatusOr<std::unique_ptr<Connection>> db =
        Connection::Open({path_, Connection::Mode::kWrite, "", absl::Milliseconds(50)});
    if (!db.ok()) return db.status();
    return Migrate(**db, migrations, /*may_be_new=*/true);
  }

  TestDirectory directory_;
  const std::string path_ = directory_.File("assay.db");
  const Migration first_ = {1, "first",
                            "CREATE TABLE a (x INTEGER PRIMARY KEY) STRICT;"
                            "CREATE TABLE b (y INTEGER REFERENCES a (x)) STRICT;"
                            "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);"};
};

TEST_F(MigrateTest, OnlyWhatIsMissingIsAppliedInOrderAndRecorded) {
  WriteFile(path_, "");
  const Migration second = {2, "second", "ALTER TABLE a ADD COLUMN z TEXT;"};
  const Migration third = {3, "third", "UPDATE a SET z = 'third';"};

  ASSERT_TRUE(Apply({first_}).ok());
  ASSERT_TRUE(Apply({first_, second, third}).ok());
  ASSERT_TRUE(Apply({first_, second, third}).ok());

  EXPECT_THAT(RawQuery(path_, "SELECT z FROM a"), ElementsAre("third"));
  EXPECT_THAT(RawQuery(path_, "PRAGMA user_version"), ElementsAre("3"));
  EXPECT_THAT(RawQuery(path_, "SELECT number || name || sha256 FROM schema_migrations"),
              ElementsAre(absl::StrCat("1first", Sha256Hex(first_.sql)),
                          absl::StrCat("2second", Sha256Hex(second.sql)),
                          absl::StrCat("3third", Sha256Hex(third.sql))));
}

TEST_F(MigrateTest, OneThatFailsLeavesTheOnesBeforeIt) {
  WriteFile(path_, "");
  const Migration second = {2, "second", "CREATE TABLE c (x) ; INSERT INTO nowhere VALUES (1);"};

  EXPECT_FALSE(Apply({first_, second}).ok());

  EXPECT_THAT(RawQuery(path_, "PRAGMA user_version"), ElementsAre("1"));
  EXPECT_THAT(RawQuery(path_, "SELECT name FROM sqlite_schema WHERE name = 'c'"), IsEmpty());
  EXPECT_TRUE(Apply({first_}).ok());
}

TEST_F(MigrateTest, TableMayBeRebuiltButReferencesMustHold) {
  WriteFile(path_, "");
  ASSERT_TRUE(Apply({first_}).ok());
  const Migration dangling = {2, "dangling", "DELETE FROM a;"};
  const Migration rebuild = {2, "rebuild",
                             "CREATE TABLE a2 (x INTEGER PRIMARY KEY, n TEXT) STRICT;"
                             "INSERT INTO a2 (x) SELECT x FROM a; DROP TABLE a;"
                             "ALTER TABLE a2 RENAME TO a;"};

  EXPECT_EQ(Apply({first_, dangling}).code(), absl::StatusCode::kInternal);
  EXPECT_THAT(RawQuery(path_, "SELECT x FROM a"), ElementsAre("1"));
  EXPECT_TRUE(Apply({first_, rebuild}).ok());
  EXPECT_THAT(RawQuery(path_, "SELECT count(n IS NULL) FROM a"), ElementsAre("1"));
}

TEST_F(MigrateTest, EmbeddedOnesAreTheFilesInOrder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat(ASSAY_SOURCE_DIR, "/migrations"))) {
    if (entry.path().extension() == ".sql") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), EmbeddedMigrations().size());
  for (size_t i = 0; i < files.size(); ++i) {
    const Migration& migration = EmbeddedMigrations()[i];
    EXPECT_EQ(migration.number, static_cast<int>(i + 1));
    EXPECT_THAT(files[i].filename().string(), HasSubstr(migration.name));
    EXPECT_EQ(migration.sql, ReadFile(files[i]));
  }
}

// An applied migration never changes again: what stands here is what databases in use were made
// with. A new schema is a new file.
TEST_F(MigrateTest, PublishedMigrationsAreAsTheyWere) {
  const std::vector<std::string> published = {
      "68b0046b6502437825786dea2454b13437ac005994e872177a00ec23d022c6ce",
  };
  ASSERT_EQ(published.size(), EmbeddedMigrations().size());
  for (size_t i = 0; i < published.size(); ++i) {
    EXPECT_EQ(Sha256Hex(EmbeddedMigrations()[i].sql), published[i]);
  }
}

}  // namespace
}  // namespace assay::store
