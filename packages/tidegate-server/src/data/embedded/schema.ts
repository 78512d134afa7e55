/**
 * How the layout grew. The number of steps taken stands in the file (`user_version`); a step is never edited, the next
 * change is one more. Texts are kept as JSON: the driver cuts a plain text at its first NUL.
 */
export const schemaSteps: readonly string[] = [
  `
  CREATE TABLE list_entries (
    list TEXT NOT NULL,
    address TEXT NOT NULL,
    entry TEXT NOT NULL,
    until REAL,
    PRIMARY KEY (list, address)
  ) WITHOUT ROWID;
  CREATE INDEX list_entries_until ON list_entries (until) WHERE until IS NOT NULL;
  CREATE TABLE customers (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE policy_versions (id INTEGER PRIMARY KEY, source TEXT NOT NULL, version TEXT NOT NULL);
  CREATE INDEX policy_versions_source ON policy_versions (source, id);
  CREATE TABLE audit (id INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
  CREATE TABLE pending_customers (id INTEGER PRIMARY KEY AUTOINCREMENT, write TEXT NOT NULL);
  `,
  `
  CREATE TABLE edge_modes (edge TEXT PRIMARY KEY, mode TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE cleared_keys (key TEXT PRIMARY KEY, entry TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
  CREATE INDEX cleared_keys_until ON cleared_keys (until);
  `,
  `
  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL UNIQUE,
    token TEXT NOT NULL,
    used REAL
  ) WITHOUT ROWID;
  CREATE TABLE sessions (digest TEXT PRIMARY KEY, token_id TEXT NOT NULL, session TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
  CREATE INDEX sessions_token_id ON sessions (token_id);
  CREATE INDEX sessions_until ON sessions (until);
  `,
  `
  CREATE TABLE offenders (id TEXT PRIMARY KEY, key TEXT NOT NULL, offender TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
  CREATE INDEX offenders_key ON offenders (key);
  CREATE INDEX offenders_until ON offenders (until);
  `,
  `
  CREATE TABLE edge_stops (edge TEXT PRIMARY KEY, stop TEXT NOT NULL) WITHOUT ROWID;
  `,
];
