import { type Answer, type AnswerHeader, lengthOf, type OwnRefusal } from "./refusal.js";

/** The app's own answer on top of the usual one. Throws when it can not be sent. */
export async function ownAnswer(own: OwnRefusal, usual: Answer): Promise<Answer> {
  if (isResponse(own)) {
    const body = new Uint8Array(await own.arrayBuffer());
    return merged(usual, { status: own.status, headers: headersOf(own), body });
  }
  const { status = usual.status, headers = {}, body } = typeof own === "string" ? { body: own } : own;
  const written = Object.entries(headers).filter(([, value]) => value !== undefined);
  if (body === undefined && !("body" in Object(own)))
    return merged(usual, { status, headers: written, body: usual.body });
  const isPlain = typeof body === "string" || body instanceof Uint8Array;
  const type: AnswerHeader = ["Content-Type", isPlain ? "text/plain; charset=utf-8" : "application/json"];
  const sent = isPlain ? body : (JSON.stringify(body) ?? "");
  return merged(usual, { status, headers: [type, ...written], body: sent });
}

/** Told by what it can do: a framework may bring a `Response` of its own. */
function isResponse(own: OwnRefusal): own is Response {
  return typeof own === "object" && "arrayBuffer" in own;
}

function headersOf({ headers }: Response): AnswerHeader[] {
  const others = [...headers].filter(([name]) => name !== "set-cookie");
  const cookies = headers.getSetCookie();
  return cookies.length === 0 ? others : [...others, ["Set-Cookie", cookies]];
}

/** Numbers come where no compiler looks. What no server would write is refused, before a part of the answer is written. */
function asSent([name, value]: readonly [string, unknown]): AnswerHeader {
  const sent = Array.isArray(value) ? value.map(String) : String(value);
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new TypeError(`${JSON.stringify(name)} names no header.`);
  if ([sent].flat().some((text) => /[^\t\x20-\x7e\x80-\xff]/.test(text)))
    throw new TypeError(`${name}: ${JSON.stringify(value)} has a character that headers can not have.`);
  return [name, sent];
}

/** How long the body is, and how it is sent, is never the app's to say. */
function merged(usual: Answer, { status, headers, body }: Answer): Answer {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new TypeError(`${status} is no status from 200 to 599.`);
  const isBodiless = [204, 205, 304].includes(status);
  const dropped = isBodiless ? [...framing, "content-type"] : framing;
  const kept = [...usual.headers, ...headers.map(asSent)].filter(
    ([name]) => !dropped.includes(name.toLowerCase()),
  );
  return isBodiless
    ? { status, headers: kept, body: "" }
    : { status, headers: [...kept, ["Content-Length", `${lengthOf(body)}`]], body };
}

const framing = ["content-length", "transfer-encoding"];
