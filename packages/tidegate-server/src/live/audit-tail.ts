import type { AuditEntry, AuditLog } from "../data.js";

/** The end of the audit, whoever writes it. */
export interface AuditTail {
  /** The newest entry told of; undefined: not known yet. */
  readonly last: number | undefined;
  /** Entries since the last look, oldest first; the first look only finds out where the end is. */
  look(): Promise<Found>;
  /** Entries after this one, oldest first. */
  after(id: number): Promise<Found>;
}

export interface Found {
  readonly entries: readonly AuditEntry[];
  /** The newest there is; what was asked for may be of other data, which had more. */
  readonly newest: number;
  /** There are more between this one and the first of the entries. */
  readonly missedAfter?: number;
}

const aPage = 200;
const mostEntries = 1_000;

export function auditTail({ list }: Pick<AuditLog, "list">): AuditTail {
  let last: number | undefined;

  async function after(id: number): Promise<Found> {
    const found: AuditEntry[] = [];
    for (let before: number | undefined; found.length < mostEntries; before = found.at(-1)?.id) {
      const page = await list({ most: aPage, ...(before !== undefined && { before }) });
      const newer = page.filter((entry) => entry.id > id);
      found.push(...newer);
      if (found.length === 0) return { entries: [], newest: page[0]?.id ?? 0 };
      if (newer.length < aPage) return { entries: found.reverse(), newest: found.at(-1)?.id as number };
    }
    const entries = found.reverse();
    return { entries, newest: entries.at(-1)?.id as number, missedAfter: id };
  }

  return {
    get last() {
      return last;
    },
    async look() {
      if (last === undefined) {
        const [newest] = await list({ most: 1 });
        last = newest?.id ?? 0;
        return { entries: [], newest: last };
      }
      const found = await after(last);
      last = found.newest;
      return found;
    },
    after,
  };
}
