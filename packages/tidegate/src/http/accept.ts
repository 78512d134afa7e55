/** What a client may read of a refusal. */
export type MediaType = "application/problem+json" | "text/plain";

const longestRead = 512;

/** Text for those who ask for text more than for JSON, people's browsers among them; JSON for all others. */
export function preferredType(accept: string | undefined): MediaType {
  if (accept === undefined || accept === "*/*") return "application/problem+json";
  let json = -1;
  let text = -1;
  let any = 0;
  for (const range of accept.slice(0, longestRead).toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = weightOf(parameters);
    if (type === "*/*") any = Math.max(any, weight);
    else if (type.startsWith("text/")) text = Math.max(text, weight);
    else if (type === "application/*" || type.endsWith("json")) json = Math.max(json, weight);
  }
  return (text < 0 ? any : text) > (json < 0 ? any : json) ? "text/plain" : "application/problem+json";
}

function weightOf(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => parameter.startsWith("q="));
  const weight = written === undefined ? 1 : Number(written.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
