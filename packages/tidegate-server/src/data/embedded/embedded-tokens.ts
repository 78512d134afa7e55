import type { NamedToken, Tokens } from "../../data.js";
import { byAge, keptToken, namedToken } from "../access-record.js";
import type { Database } from "./database.js";

interface Row {
  readonly token: string;
  readonly used: number | null;
}

export function embeddedTokens(database: Database, now: () => number): Tokens {
  const tokenOf = ({ token, used }: Row): NamedToken => namedToken(JSON.parse(token), used);
  return {
    async add(token, digest) {
      const kept = keptToken(token, now());
      const { changes } = database.run(
        "INSERT OR IGNORE INTO tokens (id, name, digest, token) VALUES (?, ?, ?, ?)",
        JSON.stringify(kept.id),
        JSON.stringify(kept.name),
        digest,
        JSON.stringify(kept),
      );
      return changes === 1 ? kept : undefined;
    },
    list: async () => database.rows<Row>("SELECT token, used FROM tokens").map(tokenOf).sort(byAge),
    async findByDigest(digest) {
      const [row] = database.rows<Row>("SELECT token, used FROM tokens WHERE digest = ?", digest);
      return row && tokenOf(row);
    },
    async revoke(idOrName) {
      const key = JSON.stringify(idOrName);
      const [row] = database.rows<Row>("SELECT token, used FROM tokens WHERE id = ? OR name = ?", key, key);
      if (row === undefined) return undefined;
      const token = tokenOf(row);
      database.run("DELETE FROM tokens WHERE id = ?", JSON.stringify(token.id));
      return token;
    },
    async touch(id, at) {
      database.run("UPDATE tokens SET used = ? WHERE id = ?", at, JSON.stringify(id));
    },
  };
}
