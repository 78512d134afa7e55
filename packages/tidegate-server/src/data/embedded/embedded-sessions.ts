import type { Session, Sessions } from "../../data.js";
import type { Database } from "./database.js";

export interface EmbeddedSessionsOptions {
  readonly database: Database;
  readonly now: () => number;
  /** Beyond it those that end soonest are dropped. */
  readonly most: number;
}

export function embeddedSessions({ database, now, most }: EmbeddedSessionsOptions): Sessions {
  const sessionOf = ([row]: readonly { session: string }[]): Session | undefined =>
    row && JSON.parse(row.session);
  return {
    async add(digest, { tokenId, role, name, until }) {
      const session: Session = { tokenId, role, ...(name !== undefined && { name }), until };
      database.transaction(() => {
        database.run("DELETE FROM sessions WHERE until <= ?", now());
        database.run(
          "INSERT OR REPLACE INTO sessions (digest, token_id, session, until) VALUES (?, ?, ?, ?)",
          digest,
          tokenId,
          JSON.stringify(session),
          until,
        );
        database.run(
          "DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions ORDER BY until DESC LIMIT -1 OFFSET ?)",
          most,
        );
      });
    },
    find: async (digest) =>
      sessionOf(database.rows("SELECT session FROM sessions WHERE digest = ? AND until > ?", digest, now())),
    async remove(digest) {
      const found = database.rows<{ session: string }>(
        "SELECT session FROM sessions WHERE digest = ? AND until > ?",
        digest,
        now(),
      );
      database.run("DELETE FROM sessions WHERE digest = ?", digest);
      return sessionOf(found);
    },
    async removeOfToken(tokenId) {
      database.run("DELETE FROM sessions WHERE token_id = ?", tokenId);
    },
  };
}
