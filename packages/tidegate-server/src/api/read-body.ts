import type { IncomingMessage } from "node:http";
import { ApiProblem, badRequest } from "./api-problem.js";

/** Policies are long; nothing else is. */
const largestBody = 1_048_576;

/** The body as JSON, whatever type it is said to be; none counts as an empty object. */
export async function readBody(req: IncomingMessage): Promise<unknown> {
  if (Number(req.headers["content-length"] ?? 0) > largestBody) throw tooLarge();
  const bytes = await readBytes(req);
  return bytes.length === 0 ? {} : parseJson(bytes);
}

async function readBytes(req: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > largestBody) throw tooLarge();
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof ApiProblem ? error : badRequest("body", "It ended early.", "Send it again.");
  }
  return Buffer.concat(pieces);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badRequest("body", "This is not JSON in UTF-8.", 'Send an object, e.g. {"why": "…"}.');
  }
}

function tooLarge(): ApiProblem {
  return new ApiProblem(
    { status: 413, code: "TG_REQUEST", path: "body", detail: `A body is at most ${largestBody} bytes.` },
    { Connection: "close" },
  );
}
