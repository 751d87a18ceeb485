// Opening: what is made, and every kind of file that is refused.
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "server/store/migrations.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class OpenTest : public ::testing::Test {
 protected:
  absl::Status Open(bool create = false, const std::string& path = "") {
    SqliteOptions options;
    options.path = path.empty() ? path_ : path;
    options.create = create;
    options.busy_timeout = absl::Milliseconds(50);
    return OpenSqliteStore(options).status();
  }

  // A database with a run and a result, closed.
  void Make(const std::string& path) {
    std::unique_ptr<Store> store = OpenOrDie(path);
    InsertTestRun(*store, "run-1", 40);
    for (uint32_t i = 0; i < 20; ++i) {
      ASSERT_TRUE(Append(*store, TestResult("run-1", i, 600)).ok());
    }
    ASSERT_TRUE(store->PutDocuments({ServerDocument("hk-1")}).ok());
  }

  std::vector<std::string> FilesThere() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  TestDirectory directory_;
  const std::string path_ = directory_.File("assay.db");
};

void ExpectRefused(const absl::Status& status, absl::StatusCode code, absl::string_view id) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(IdOf(status), id) << status;
}

TEST_F(OpenTest, CreatedDatabaseIsOurs) {
  mode_t mask = umask(0);
  OpenOrDie(path_).reset();
  umask(mask);

  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_THAT(RawQuery(path_, "PRAGMA application_id"), ElementsAre("1095979865"));
  EXPECT_THAT(RawQuery(path_, "PRAGMA journal_mode"), ElementsAre("wal"));
  EXPECT_THAT(RawQuery(path_, "PRAGMA user_version"),
              ElementsAre(absl::StrCat(EmbeddedMigrations().size())));
  // Closed in good order, it is one file.
  EXPECT_THAT(FilesThere(), UnorderedElementsAre("assay.db", "assay.db.lock"));
  EXPECT_THAT(RawQuery(path_,
                       "SELECT name FROM pragma_table_list "
                       "WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' AND strict = 0"),
              IsEmpty());
}

TEST_F(OpenTest, CreatingAgainOpensWhatIsThere) {
  Make(path_);

  EXPECT_TRUE(Open(/*create=*/true).ok());
  EXPECT_EQ(OpenOrDie(path_)->ListResults({})->size(), 20u);
}

TEST_F(OpenTest, EmptyFileLeftByACrashedInitBecomesADatabase) {
  WriteFile(path_, "");

  ExpectRefused(Open(), absl::StatusCode::kFailedPrecondition, "store.not_assay");
  EXPECT_TRUE(Open(/*create=*/true).ok());
}

TEST_F(OpenTest, MissingFileIsNotMade) {
  ExpectRefused(Open(), absl::StatusCode::kNotFound, "store.missing");
  EXPECT_THAT(FilesThere(), IsEmpty());
}

TEST_F(OpenTest, MissingDirectoryIsNamed) {
  ExpectRefused(Open(false, directory_.File("no/assay.db")), absl::StatusCode::kNotFound,
                "store.missing");
  ExpectRefused(Open(true, directory_.File("no/assay.db")), absl::StatusCode::kNotFound,
                "store.no_directory");
}

TEST_F(OpenTest, SomethingElseThanAFileIsRefused) {
  ExpectRefused(Open(true, directory_.path()), absl::StatusCode::kFailedPrecondition,
                "store.not_assay");
}

TEST_F(OpenTest, AnotherProgramsDatabaseIsLeftAsItIs) {
  RawQuery(path_, "CREATE TABLE t (x); PRAGMA application_id = 7");
  std::string before = ReadFile(path_);

  for (bool create : {false, true}) {
    ExpectRefused(Open(create), absl::StatusCode::kFailedPrecondition, "store.not_assay");
  }
  EXPECT_EQ(ReadFile(path_), before);
}

TEST_F(OpenTest, FileThatIsNoDatabaseIsLeftAsItIs) {
  for (const std::string& content : {std::string("plan: acceptance\n"), std::string(8192, 'x')}) {
    WriteFile(path_, content);
    for (bool create : {false, true}) {
      ExpectRefused(Open(create), absl::StatusCode::kDataLoss, "store.corrupt");
    }
    EXPECT_EQ(ReadFile(path_), content);
  }
}

TEST_F(OpenTest, NewerDatabaseIsRefused) {
  Make(path_);
  RawQuery(path_, "PRAGMA user_version = 99");

  absl::Status status = Open();

  ExpectRefused(status, absl::StatusCode::kFailedPrecondition, "store.newer");
  EXPECT_THAT(status.message(), HasSubstr("99"));
}

TEST_F(OpenTest, MigrationThatWasEditedAfterwardsIsRefused) {
  Make(path_);
  RawQuery(path_, "UPDATE schema_migrations SET sha256 = 'other' WHERE number = 1");

  absl::Status status = Open();

  ExpectRefused(status, absl::StatusCode::kFailedPrecondition, "store.migration_edited");
  EXPECT_THAT(status.message(), HasSubstr("initial"));
}

TEST_F(OpenTest, RecordOfMigrationsThatDoesNotMatchTheSchemaIsDamage) {
  for (const char* sql : {"DELETE FROM schema_migrations", "PRAGMA user_version = 0",
                          "UPDATE schema_migrations SET number = 2"}) {
    TestDirectory directory;
    Make(directory.File("db"));
    RawQuery(directory.File("db"), sql);
    ExpectRefused(Open(false, directory.File("db")), absl::StatusCode::kDataLoss, "store.corrupt");
  }
}

TEST_F(OpenTest, SecondCoordinatorIsToldWhoHasIt) {
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  pid_t child = fork();
  if (child == 0) {
    std::unique_ptr<Store> store = OpenOrDie(path_);
    if (write(pipe_fds[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char ready;
  ASSERT_EQ(read(pipe_fds[0], &ready, 1), 1);

  absl::Status status = Open();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);

  ExpectRefused(status, absl::StatusCode::kUnavailable, "store.in_use");
  EXPECT_THAT(status.message(), HasSubstr(absl::StrCat("process ", child)));
  EXPECT_TRUE(Open().ok());  // the kernel let go
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST_F(OpenTest, SecondStoreInOneProcessIsRefusedToo) {
  std::unique_ptr<Store> store = OpenOrDie(path_);

  ExpectRefused(Open(), absl::StatusCode::kUnavailable, "store.in_use");
}

TEST_F(OpenTest, LockOfAnotherProgramIsWaitedForAndThenNamed) {
  SqliteOptions options;
  options.path = path_;
  options.busy_timeout = absl::Milliseconds(50);
  std::unique_ptr<Store> store = OpenOrDie(options);
  sqlite3* shell = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &shell), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(shell, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);

  absl::Status blocked = store->PutDocuments({ServerDocument("hk-1")});
  sqlite3_close(shell);

  ExpectRefused(blocked, absl::StatusCode::kUnavailable, "store.busy");
  EXPECT_TRUE(store->ListDocuments("server")->empty());
  EXPECT_TRUE(store->PutDocuments({ServerDocument("hk-1")}).ok());
}

TEST_F(OpenTest, DatabaseLockedWhileOpeningIsNamed) {
  Make(path_);
  sqlite3* shell = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &shell), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(shell, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);

  absl::Status status = Open();
  sqlite3_close(shell);

  ExpectRefused(status, absl::StatusCode::kUnavailable, "store.busy");
  EXPECT_TRUE(Open().ok());
}

TEST_F(OpenTest, ReadOnlyFileSystemIsNamed) {
  if (!EnterOwnMounts() || mount("none", directory_.path().c_str(), "tmpfs", 0, "size=8m") != 0) {
    GTEST_SKIP() << "mounting is not allowed here";
  }
  Make(path_);
  ASSERT_EQ(mount("none", directory_.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);

  for (bool create : {false, true}) {
    ExpectRefused(Open(create), absl::StatusCode::kUnavailable, "store.read_only");
    ExpectRefused(Open(create, directory_.File("other.db")),
                  create ? absl::StatusCode::kUnavailable : absl::StatusCode::kNotFound,
                  create ? "store.read_only" : "store.missing");
  }
  umount(directory_.path().c_str());
}

TEST_F(OpenTest, ReadOnlyFileInAWritableDirectoryIsNamed) {
  Make(path_);
  if (!EnterOwnMounts() || mount(path_.c_str(), path_.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      mount(nullptr, path_.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
    GTEST_SKIP() << "mounting is not allowed here";
  }

  ExpectRefused(Open(), absl::StatusCode::kUnavailable, "store.read_only");
  umount(path_.c_str());
}

TEST_F(OpenTest, DamageIsReportedAndNeverCrashes) {
  Make(path_);
  const std::string sound = ReadFile(path_);
  constexpr size_t kPage = 4096;
  int found = 0;
  for (size_t page = 0; page < sound.size() / kPage; ++page) {
    for (size_t offset : {size_t{0}, kPage / 2}) {
      SCOPED_TRACE(absl::StrCat("page ", page, " from ", offset));
      TestDirectory directory;
      std::string damaged = sound;
      for (size_t i = page * kPage + offset; i < page * kPage + offset + kPage / 2; ++i) {
        damaged[i] = static_cast<char>(i * 2654435761u >> 13);
      }
      WriteFile(directory.File("db"), damaged);

      SqliteOptions options;
      options.path = directory.File("db");
      absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(options);
      std::vector<absl::Status> statuses = {store.status()};
      if (store.ok()) {
        statuses.push_back((*store)->GetRun("run-1").status());
        statuses.push_back((*store)->ListTasks("run-1").status());
        statuses.push_back((*store)->ListResults({.with_evidence = true}).status());
        statuses.push_back((*store)->ListDocuments("server").status());
        statuses.push_back((*store)->ListCertificates().status());
        statuses.push_back(Append(**store, TestResult("run-1", 30)).status());
        statuses.push_back((*store)->PutDocuments({ServerDocument("gy-1")}));
      }
      for (const absl::Status& status : statuses) {
        if (status.ok()) continue;
        ++found;
        // A row that is gone may also be "not found", and a schema in ruins "not ours".
        EXPECT_THAT(status.code(),
                    AnyOf(absl::StatusCode::kDataLoss, absl::StatusCode::kNotFound,
                          absl::StatusCode::kFailedPrecondition, absl::StatusCode::kInternal))
            << status;
      }
    }
  }
  EXPECT_GT(found, 20);
}

TEST_F(OpenTest, TruncatedDatabaseIsReported) {
  Make(path_);
  std::filesystem::resize_file(path_, 4096 * 3 + 100);

  absl::Status opened = Open();
  if (opened.ok()) opened = OpenOrDie(path_)->ListResults({}).status();

  ExpectRefused(opened, absl::StatusCode::kDataLoss, "store.corrupt");
}

// ---- the connection's own rules

TEST_F(OpenTest, ConnectionIsStrictAboutSql) {
  Make(path_);
  std::unique_ptr<Connection> db =
      Connection::Open({path_, Connection::Mode::kWrite, "", absl::Milliseconds(50)}).value();

  EXPECT_FALSE(db->QueryInt("SELECT \"no such column\"").ok());
  EXPECT_FALSE(db->Script("CREATE TABLE t (x CHECK (x = \"text\"))").ok());
  EXPECT_EQ(db->QueryInt("PRAGMA foreign_keys").value(), 1);
  EXPECT_EQ(db->QueryInt("PRAGMA synchronous").value(), 2);
  EXPECT_EQ(db->QueryInt("PRAGMA trusted_schema").value(), 0);
  EXPECT_FALSE(db->Run("INSERT INTO metrics (result_id, name, marks) VALUES (999, 'x', '')").ok());
  EXPECT_FALSE(db->Run("UPDATE sqlite_schema SET sql = ''").ok());
}

TEST_F(OpenTest, ReadingConnectionRefusesChanges) {
  Make(path_);
  std::unique_ptr<Connection> db =
      Connection::Open({path_, Connection::Mode::kRead, "", absl::Milliseconds(50)}).value();

  EXPECT_EQ(db->QueryInt("PRAGMA query_only").value(), 1);
  EXPECT_EQ(db->Run("DELETE FROM verdicts").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(db->QueryInt("SELECT count(*) FROM results").value(), 20);
}

TEST_F(OpenTest, StatementTextInUseTwiceGivesTwoStatements) {
  Make(path_);
  std::unique_ptr<Connection> db =
      Connection::Open({path_, Connection::Mode::kRead, "", absl::Milliseconds(50)}).value();
  const char* sql = "SELECT task FROM tasks ORDER BY task LIMIT ?1";
  Statement outer = db->Query(sql, 2).value();
  ASSERT_TRUE(outer.Next().value());
  {
    Statement inner = db->Query(sql, 1).value();
    ASSERT_TRUE(inner.Next().value());
    EXPECT_EQ(inner.TakeInt(), 0);
    EXPECT_FALSE(inner.Next().value());
  }
  EXPECT_EQ(outer.TakeInt(), 0);
  ASSERT_TRUE(outer.Next().value());
  EXPECT_EQ(outer.TakeInt(), 1);
}

}  // namespace
}  // namespace assay::store
