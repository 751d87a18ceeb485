-- The first schema.
--
-- Times are microseconds since 1970, UTC (columns *_us). Columns that hold a serialised message say
-- which; enums are stored by their number in proto/assay/v1. A message has columns beside it only
-- where something searches by them.

CREATE TABLE documents (
  kind TEXT NOT NULL CHECK (kind IN ('server', 'vantage', 'profile', 'plan')),
  name TEXT NOT NULL,
  document BLOB NOT NULL,  -- Document
  PRIMARY KEY (kind, name)
) STRICT;

CREATE TABLE agents (
  agent_id TEXT NOT NULL PRIMARY KEY,
  subject_kind INTEGER NOT NULL,  -- SubjectKind
  subject_name TEXT NOT NULL,
  enrolled_at_us INTEGER NOT NULL,
  last_seen_at_us INTEGER,  -- NULL: never connected
  peer TEXT NOT NULL,
  hello BLOB NOT NULL,  -- Hello
  superseded INTEGER NOT NULL CHECK (superseded IN (0, 1))
) STRICT;

-- A server or vantage has at most one agent that may work for it.
CREATE UNIQUE INDEX agents_current ON agents (subject_kind, subject_name) WHERE superseded = 0;

CREATE TABLE certificates (
  serial TEXT NOT NULL PRIMARY KEY,
  subject_kind INTEGER NOT NULL,  -- SubjectKind
  subject_name TEXT NOT NULL,
  role INTEGER NOT NULL,  -- Role
  agent_id TEXT REFERENCES agents (agent_id),  -- NULL: a person's
  not_before_us INTEGER NOT NULL,
  not_after_us INTEGER NOT NULL,
  revoked_at_us INTEGER,  -- NULL: not revoked
  revoked_reason TEXT NOT NULL
) STRICT;

CREATE INDEX certificates_by_subject ON certificates (subject_kind, subject_name);
CREATE INDEX certificates_by_agent ON certificates (agent_id);

CREATE TABLE tokens (
  token_sha256 TEXT NOT NULL PRIMARY KEY,
  subject_kind INTEGER NOT NULL,  -- SubjectKind
  subject_name TEXT NOT NULL,
  role INTEGER NOT NULL,  -- Role
  expires_at_us INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  used_at_us INTEGER,  -- NULL: not redeemed
  certificate_serial TEXT REFERENCES certificates (serial),
  CHECK ((used_at_us IS NULL) = (certificate_serial IS NULL))
) STRICT;

-- The number orders runs by when they were started, whatever the clock said.
CREATE TABLE runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  plan_name TEXT NOT NULL,
  plan BLOB NOT NULL,  -- Plan, as it was when the run started
  seed INTEGER NOT NULL,  -- 64 bits, two's complement
  started_by TEXT NOT NULL,
  state INTEGER NOT NULL,  -- RunState
  started_at_us INTEGER NOT NULL,
  ended_at_us INTEGER,
  planned_end_at_us INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_by_plan ON runs (plan_name);
CREATE INDEX runs_by_state ON runs (state);

CREATE TABLE run_servers (
  run_number INTEGER NOT NULL REFERENCES runs (number),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  server BLOB NOT NULL,  -- Server
  PRIMARY KEY (run_number, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_servers_by_name ON run_servers (name, run_number);

CREATE TABLE run_vantages (
  run_number INTEGER NOT NULL REFERENCES runs (number),
  position INTEGER NOT NULL,
  vantage BLOB NOT NULL,  -- Vantage
  PRIMARY KEY (run_number, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_criteria (
  run_number INTEGER NOT NULL REFERENCES runs (number),
  position INTEGER NOT NULL,
  criterion BLOB NOT NULL,  -- Criterion
  PRIMARY KEY (run_number, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  run_number INTEGER NOT NULL REFERENCES runs (number),
  task INTEGER NOT NULL,  -- index in the run's timetable
  server TEXT NOT NULL,
  vantage TEXT NOT NULL,  -- empty: on the server itself
  probe TEXT NOT NULL,
  window_name TEXT NOT NULL,
  day TEXT NOT NULL,  -- civil day of the window's occurrence, YYYY-MM-DD
  due_at_us INTEGER NOT NULL,
  window_end_at_us INTEGER NOT NULL,
  time_limit_us INTEGER NOT NULL,
  state INTEGER NOT NULL,  -- TaskState
  attempt INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  reason BLOB NOT NULL,  -- Message
  PRIMARY KEY (run_number, task)
) STRICT, WITHOUT ROWID;

CREATE INDEX tasks_by_state ON tasks (run_number, state, server);

-- UNIQUE (run_number, task) is the promise that a task has one result, however often it is sent.
-- server, vantage, probe and window_name are the task's: they never change, and lists search by
-- them. AUTOINCREMENT: verdicts name results by id, so an id is never used again.
CREATE TABLE results (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_number INTEGER NOT NULL,
  task INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  server TEXT NOT NULL,
  vantage TEXT NOT NULL,
  probe TEXT NOT NULL,
  window_name TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  received_at_us INTEGER NOT NULL,
  result BLOB NOT NULL,  -- Result without evidence_zstd
  evidence_sha256 TEXT NOT NULL,
  UNIQUE (run_number, task),
  FOREIGN KEY (run_number, task) REFERENCES tasks (run_number, task)
) STRICT;

-- Each ends with the row's id, so "newest first" needs no sorting.
CREATE INDEX results_by_run ON results (run_number);
CREATE INDEX results_by_server ON results (server);
CREATE INDEX results_by_vantage ON results (vantage);

-- Apart from the results, so that lists do not read through it. No row: no evidence.
CREATE TABLE evidence (
  result_id INTEGER PRIMARY KEY REFERENCES results (id),
  evidence_zstd BLOB NOT NULL
) STRICT;

-- With a rowid: samples make rows of a kilobyte and more, which a WITHOUT ROWID tree holds badly.
CREATE TABLE metrics (
  number INTEGER PRIMARY KEY,  -- order within a result
  result_id INTEGER NOT NULL REFERENCES results (id),
  name TEXT NOT NULL,
  events INTEGER,  -- of a proportion, else NULL
  trials INTEGER,
  samples BLOB,  -- IEEE 754 doubles, little-endian, in order of measurement; else NULL
  marks TEXT NOT NULL,  -- Mark numbers, separated by commas
  UNIQUE (result_id, name),
  CHECK ((events IS NULL) = (trials IS NULL)),
  CHECK (events IS NULL OR samples IS NULL)
) STRICT;

CREATE TABLE verdicts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  server TEXT NOT NULL,
  run TEXT NOT NULL,
  digest TEXT NOT NULL,
  evaluated_at_us INTEGER NOT NULL,
  verdict BLOB NOT NULL  -- Verdict
) STRICT;

CREATE INDEX verdicts_by_server ON verdicts (server);
CREATE INDEX verdicts_by_run ON verdicts (server, run);
