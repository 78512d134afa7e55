const quote = 34;
const comma = 44;
const semicolon = 59;
const backslash = 92;

/**
 * Where the last element of a Forwarded header (RFC 7239) begins, when the header is read up to `end`. Read from the
 * right, so that a quote which a client left open can not swallow what proxies added after it.
 */
export function lastElement(text: string, end: number): number {
  let isQuoted = false;
  for (let at = end - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === quote && !isEscaped(text, at)) isQuoted = !isQuoted;
    else if (code === comma && !isQuoted) return at + 1;
  }
  return 0;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before--;
  return (at - before) % 2 === 0;
}

/** The address text an element's `for` gives, without quotes and hidden port. Empty if it says none, or says it twice. */
export function forOf(element: string): string {
  let found = "";
  for (const pair of pairsOf(element)) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim().toLowerCase() !== "for") continue;
    if (found !== "") return "";
    found = unquoted(pair.slice(equals + 1).trim());
  }
  const hiddenPort = found.indexOf(":_");
  return hiddenPort < 0 ? found : found.slice(0, hiddenPort);
}

/** Parted at the semicolons that stand outside quotes. */
function pairsOf(element: string): string[] {
  const pairs: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < element.length; at++) {
    const code = element.charCodeAt(at);
    if (code === quote && !isEscaped(element, at)) isQuoted = !isQuoted;
    else if (code === semicolon && !isQuoted) {
      pairs.push(element.slice(start, at));
      start = at + 1;
    }
  }
  return [...pairs, element.slice(start)];
}

function unquoted(value: string): string {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1) : value;
}
