/** The keys of the object a text of valid JSON is, in order, each as often as it is written: `JSON.parse` keeps the last of those alike. */
export function jsonKeys(text: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  let isObject = false;
  let isKeyNext = false;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case "{":
      case "[":
        if (depth++ === 0) isObject = isKeyNext = text[at] === "{";
        break;
      case "}":
      case "]":
        depth--;
        break;
      case ",":
        if (depth === 1) isKeyNext = isObject;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (depth === 1 && isKeyNext) keys.push(JSON.parse(text.slice(at, end + 1)));
        isKeyNext &&= depth !== 1;
        at = end;
      }
    }
  }
  return keys;
}

/** Where the string that begins here has its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
