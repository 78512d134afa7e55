import type { Duration } from "tidegate";
import { putEntry } from "../acts/list-acts.js";
import { entryTag } from "../conflict/tags.js";
import { checkUnchanged } from "../conflict/unchanged.js";
import type { Handler } from "../handler.js";
import { guardList } from "../list-guard.js";
import { listNamed } from "../list-named.js";
import { listBody, parseAs } from "../shapes.js";
import type { ListEntryAnswer } from "../types.js";

export const putListEntry: Handler<ListEntryAnswer> = async (parts, ask) => {
  const list = listNamed(ask.param("list"));
  const address = ask.param("address");
  const { for: duration, why, force = false } = parseAs(listBody, await ask.body(), "body");
  const who = ask.who();
  if (!force) guardList(list, address, { peer: ask.peer(), isProxy: parts.isProxy });
  const reason = why === undefined ? {} : { why };
  const { entry, before, noted } = await putEntry(
    parts,
    { list, address, who, ...reason, ...(duration !== undefined && { for: duration as Duration }) },
    { who, ...reason, check: (standing) => checkUnchanged(ask.req, standing) },
  );
  return {
    status: noted !== undefined && before === undefined ? 201 : 200,
    body: { list, entry, ...(before && { before }) },
    etag: entryTag(entry),
  };
};
