import { type AuditFormat, auditFormats } from "../audit/export.js";
import { searchAudit } from "../audit/search.js";
import type { Handler } from "../handler.js";
import { auditQuery, parseAs } from "../shapes.js";
import type { AuditAnswer, AuditLine } from "../types.js";

/** One page of those that match; as NDJSON or CSV all of them, as they are found. */
export const audit: Handler<AuditAnswer | ReadableStream> = async ({ data, undone }, { query }) => {
  const { format = "json", most, ...search } = parseAs(auditQuery, query, "query");
  const parts = { audit: data.audit, undone };
  if (format !== "json") {
    const form = auditFormats[format];
    return {
      body: await written(searchAudit(parts, search, most), form),
      type: form.type,
      headers: { "Content-Disposition": `attachment; filename="tidegate-audit.${format}"` },
    };
  }
  const entries: AuditLine[] = [];
  for await (const found of searchAudit(parts, search, most ?? 100)) entries.push(...found);
  const last = entries.at(-1);
  return { body: { entries, ...(entries.length === (most ?? 100) && last && { next: last.id }) } };
};

/** What can not be read at all is an answer of its own, so the first page is waited for. */
async function written(
  pages: AsyncGenerator<readonly AuditLine[]>,
  { head, line }: AuditFormat,
): Promise<ReadableStream> {
  const first = await pages.next();
  async function* texts(): AsyncGenerator<Uint8Array> {
    const bytes = new TextEncoder();
    yield bytes.encode(head + (first.value ?? []).map(line).join(""));
    for await (const page of pages) yield bytes.encode(page.map(line).join(""));
  }
  return streamOf(texts());
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream {
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}
