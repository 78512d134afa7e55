import type { Duration } from "tidegate";
import type { Handler } from "../handler.js";
import { guardList } from "../list-guard.js";
import { listNamed } from "../list-named.js";
import { note } from "../note.js";
import { listBody, parseAs } from "../shapes.js";
import type { ListEntryAnswer } from "../types.js";

export const putListEntry: Handler<ListEntryAnswer> = async (parts, ask) => {
  const { gate } = parts;
  const list = listNamed(ask.param("list"));
  const address = ask.param("address");
  const { for: duration, why, force = false } = parseAs(listBody, await ask.body(), "body");
  const who = ask.who();
  if (!force) guardList(list, address, ask.req.socket.remoteAddress);
  const earlier = await gate[list].entries();
  const entry = await gate[list].add(address, {
    who,
    ...(why !== undefined && { why }),
    ...(duration !== undefined && { for: duration as Duration | "permanent" }),
  });
  const before = earlier.find((each) => each.address === entry.address);
  await note(parts, {
    who,
    what: `${list}.add`,
    target: entry.address,
    ...(why !== undefined && { why }),
    ...(before !== undefined && { before }),
    after: entry,
  });
  return { status: before === undefined ? 201 : 200, body: { list, entry } };
};
