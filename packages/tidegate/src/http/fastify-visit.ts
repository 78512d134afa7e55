import type { FastifyReply, FastifyRequest } from "fastify";
import { NodeVisit } from "./node-visit.js";
import type { Answer } from "./refusal.js";

/** Answers through Fastify's reply, so that other plugins see what is sent. */
export class FastifyVisit extends NodeVisit<FastifyRequest> {
  readonly #reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    super(request, request.raw, reply.raw, request.raw.url);
    this.#reply = reply;
  }

  override getHeader(name: string): string | undefined {
    const value = this.#reply.getHeader(name);
    return value === undefined ? undefined : String(value);
  }

  override setHeader(name: string, value: string): void {
    this.#reply.header(name, value);
  }

  override send({ status, headers, body }: Answer): void {
    if (this.#reply.sent) return;
    for (const [name, value] of headers) this.#reply.header(name, value);
    // To a text Fastify would add a charset of its own.
    this.#reply.code(status).send(typeof body === "string" ? Buffer.from(body) : body);
  }
}
