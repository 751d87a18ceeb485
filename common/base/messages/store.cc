#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kStoreEntries[] = {
    {"store.newer",
     "{path} was written by a newer version (schema {found}, this binary knows {known}); install "
     "that version or restore a backup",
     "{path} 由更新的版本写入（模式 {found}，本程序只识别到 {known}）；请安装该版本或恢复备份"},
    {"store.missing",
     "there is no database at {path}; create one with `assayd init`, or give the right path",
     "{path} 处没有数据库；请用 assayd init 创建，或给出正确的路径"},
    {"store.no_directory", "cannot create {path}: {detail}; create its directory first",
     "无法创建 {path}：{detail}；请先创建其所在目录"},
    {"store.not_assay", "{path} is not an Assay database; give another path, it was left as it is",
     "{path} 不是 Assay 数据库；请给出另一个路径，该文件未被改动"},
    {"store.corrupt",
     "the database {path} is damaged ({detail}); stop assayd, keep a copy of the file, and restore "
     "a backup",
     "数据库 {path} 已损坏（{detail}）；请停止 assayd，保留该文件的副本，然后恢复备份"},
    {"store.migration_edited",
     "the database {path} was made with another text of migration {number} ({name}) than this "
     "binary has; install the version that made it, or restore a backup",
     "数据库 {path} 所用的迁移 "
     "{number}（{name}）与本程序中的内容不同；请安装当初的版本，或恢复备份"},
    {"store.read_only",
     "the database {path} cannot be written ({detail}); make the file and its directory writable "
     "for assayd",
     "无法写入数据库 {path}（{detail}）；请让 assayd 能够写入该文件及其目录"},
    {"store.in_use",
     "the database {path} is in use by another coordinator (process {process}); stop that one "
     "first, or give another path",
     "数据库 {path} 正由另一个协调器使用（进程 {process}）；请先停止它，或给出另一个路径"},
    {"store.busy",
     "another program keeps the database {path} locked; close it (a backup, an sqlite3 shell) and "
     "try again",
     "另一个程序锁住了数据库 {path}；请关闭它（备份程序或 sqlite3 命令行）后重试"},
    {"store.full",
     "no space is left for the database {path}; nothing of this was stored; free some space, "
     "assayd goes on by itself",
     "数据库 {path} 所在磁盘空间已满，本次内容未保存；请腾出空间，assayd 会自行恢复"},
    {"store.io_error",
     "the disk of the database {path} reports an error ({detail}); nothing of this was stored; "
     "check the disk",
     "数据库 {path} 所在磁盘报告错误（{detail}），本次内容未保存；请检查磁盘"},
    {"store.no_wal",
     "the database {path} cannot use a write-ahead log here (it stays in mode \"{mode}\"); put it "
     "on a local file system",
     "数据库 {path} 在此处无法使用预写日志（停留在“{mode}”模式）；请把它放到本地文件系统上"},
    {"store.no_memory", "no memory is left for the database {path}", "数据库 {path} 所需内存不足"},
    {"store.internal",
     "the database {path} refused a statement ({detail}); this is a fault of Assay, please report "
     "it",
     "数据库 {path} 拒绝执行语句（{detail}）；这是 Assay 自身的缺陷，请报告"},
    {"store.queue_full",
     "more results are waiting for the disk than the coordinator keeps; send this one again later",
     "等待写盘的结果已超过协调器的容量；请稍后重新发送该结果"},
    {"store.unknown_agent", "no agent {agent} is enrolled; join again with a new token",
     "没有登记过代理 {agent}；请用新的令牌重新加入"},
    {"store.agent_superseded",
     "the agent {agent} was revoked, or another was enrolled in its place; join again with a new "
     "token",
     "代理 {agent} 已被吊销或已由另一个代理接替；请用新的令牌重新加入"},
    {"store.agent_exists", "an agent {agent} is enrolled already", "代理 {agent} 已登记"},
    {"store.token_exists", "that token exists already; create another one",
     "该令牌已存在；请另建一个"},
    {"store.certificate_exists", "a certificate with the serial number {serial} exists already",
     "序列号为 {serial} 的证书已存在"},
    {"store.unknown_certificate", "this coordinator issued no certificate {serial}",
     "本协调器没有签发过证书 {serial}"},
    {"store.run_exists", "a run {run} exists already", "运行 {run} 已存在"},
    {"store.task_changed",
     "task {task} of run {run} changed in the meantime; the change was not made",
     "运行 {run} 的任务 {task} 在此期间已发生变化，本次更改未执行"},
};

}  // namespace

absl::Span<const CatalogueEntry> Store() { return kStoreEntries; }

}  // namespace assay::messages
