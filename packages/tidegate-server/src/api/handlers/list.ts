import { entryTag } from "../conflict/tags.js";
import type { Handler } from "../handler.js";
import { listNamed } from "../list-named.js";
import { listQuery, parseAs } from "../shapes.js";
import type { ListAnswer } from "../types.js";

/** In the order of their texts, so that a page ends where the next begins whatever changed between. */
export const list: Handler<ListAnswer> = async ({ gate }, { param, query }) => {
  const name = listNamed(param("list"));
  const { most = 100, after = "" } = parseAs(listQuery, query, "query");
  const rest = (await gate[name].entries()).filter(({ address }) => address > after);
  rest.sort((one, other) => (one.address < other.address ? -1 : 1));
  const entries = rest.slice(0, most);
  const last = entries.at(-1);
  return {
    body: {
      list: name,
      entries: entries.map((entry) => ({ ...entry, etag: entryTag(entry) })),
      ...(rest.length > most && last && { next: last.address }),
      fromPolicy: gate.policy[name] ?? [],
    },
  };
};
