import type { ListEntry, ListName } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import { clientLines } from "../client-lines.js";
import { entryTag } from "../conflict/tags.js";
import type { AdminParts, Ask, Handler } from "../handler.js";
import { slipOf } from "../list-guard.js";
import { listNamed } from "../list-named.js";
import { parseAs, previewBody } from "../shapes.js";
import type { ListPreviewAnswer, PreviewedEntry } from "../types.js";

const mostClients = 100;

/** What adding these would do: whom they name among clients seen lately, and what stands in the way. Nothing is changed. */
export const previewList: Handler<ListPreviewAnswer> = async (parts, ask) => {
  const list = listNamed(ask.param("list"));
  const { addresses } = parseAs(previewBody, await ask.body(), "body");
  const there = new Map((await parts.gate[list].entries()).map((entry) => [entry.address, entry]));
  const entries = [...new Set(addresses)].map((text) => previewed(parts, ask, { list, text, there }));
  const within = entries.filter(({ problem }) => problem === undefined).map(({ address }) => address);
  const seen = within.length === 0 ? [] : await parts.seen({ within });
  return { body: { list, entries, ...(await clientLines(parts, seen, mostClients)) } };
};

function previewed(
  { isProxy }: AdminParts,
  ask: Ask,
  { list, text, there }: { list: ListName; text: string; there: ReadonlyMap<string, ListEntry> },
): PreviewedEntry {
  const address = canonicalBlock(text);
  if (address === undefined) return { address: text, problem: "This is not an address or a block." };
  if (address.endsWith("/0"))
    return { address, problem: "This is everyone, and everyone can be on no list." };
  const slip = slipOf(list, address, { peer: ask.peer(), isProxy });
  const now = there.get(address) ?? there.get(text);
  return {
    address,
    ...(slip !== undefined && { slip }),
    ...(now !== undefined && { now: { ...now, etag: entryTag(now) } }),
  };
}
