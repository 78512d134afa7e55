import { removeEntry } from "../acts/list-acts.js";
import { checkUnchanged } from "../conflict/unchanged.js";
import type { Handler } from "../handler.js";
import { listNamed } from "../list-named.js";
import type { ListRemovedAnswer } from "../types.js";

export const removeListEntry: Handler<ListRemovedAnswer> = async (parts, ask) => {
  const list = listNamed(ask.param("list"));
  const address = ask.param("address");
  const { removed, before } = await removeEntry(
    parts,
    { list, address },
    { who: ask.who(), check: (standing) => checkUnchanged(ask.req, standing) },
  );
  return { body: { list, removed, ...(before && { before }) } };
};
