import type { Offender } from "../../offenders.js";
import { heldClients } from "../edge-desk.js";
import type { Handler } from "../handler.js";
import { offendersQuery, parseAs } from "../shapes.js";
import type { OffendersAnswer } from "../types.js";

/** Worst first, and by a place of their own among equals, so that a page ends where the next begins. */
export const offenders: Handler<OffendersAnswer> = async ({ desk }, { query }) => {
  const { most = 100, after, ip, key } = parseAs(offendersQuery, query, "query");
  if (desk === undefined) return { body: { offenders: [] } };
  const meant = key !== undefined ? { key } : ip !== undefined ? { ip } : undefined;
  const found = await (meant === undefined ? desk.offenders() : desk.find(meant));
  const placed = found.map((offender) => ({ offender, place: placeOf(offender) }));
  placed.sort((one, other) => (one.place < other.place ? -1 : 1));
  const rest = placed.filter(({ place }) => after === undefined || place > after);
  const page = rest.slice(0, most);
  const last = page.at(-1);
  return {
    body: {
      offenders: await heldClients(
        desk,
        page.map(({ offender }) => offender),
      ),
      ...(rest.length > most && last && { next: last.place }),
    },
  };
};

/** A text that sorts the worst first. */
function placeOf({ score, key, rule }: Offender): string {
  const mildness = 1e12 - Math.min(1e12, Math.max(0, Math.round(score * 1000)));
  return `${String(mildness).padStart(13, "0")} ${key} ${rule}`;
}
