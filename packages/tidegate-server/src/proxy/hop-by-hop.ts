/** Of these a Connection header has no say: they are for everyone on the way. */
const untouchable = new Set(["host", "content-length"]);
const usual = /^(?:keep-alive|close|upgrade)?$/i;

/** Takes away, of a flat list of headers, those that Connection names as meant for this hop only. */
export function withoutNamed(headers: string[], connection: string): string[] {
  if (usual.test(connection)) return headers;
  const named = new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const lower = name.toLowerCase();
    if (!named.has(lower) || untouchable.has(lower)) kept.push(name, headers[i + 1] as string);
  }
  return kept;
}
