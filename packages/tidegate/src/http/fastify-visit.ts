import type { FastifyReply, FastifyRequest } from "fastify";
import { NodeSubject, NodeVisit } from "./node-visit.js";
import type { Answer } from "./refusal.js";

/** Answers through Fastify's reply, so that other plugins see what is sent. */
export class FastifyVisit extends NodeVisit<FastifyRequest> {
  readonly #reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    const { raw } = request;
    super(request, raw, reply.raw, new NodeSubject(raw, raw.url));
    this.#reply = reply;
  }

  override getHeader(name: string): string | undefined {
    const value = this.#reply.getHeader(name);
    return value === undefined ? undefined : String(value);
  }

  override setHeader(name: string, value: string): void {
    this.#reply.header(asFastifyWrites(name), value);
  }

  override send({ status, headers, body }: Answer): void {
    if (this.#reply.sent) return;
    for (const [name, value] of headers) this.#reply.header(name, value);
    // To a text Fastify would add a charset of its own.
    this.#reply.code(status).send(typeof body === "string" ? Buffer.from(body) : body);
  }
}

/** Fastify writes all names so, and need not make a new text of these. */
function asFastifyWrites(name: string): string {
  return name === "RateLimit" ? "ratelimit" : name === "RateLimit-Policy" ? "ratelimit-policy" : name;
}
