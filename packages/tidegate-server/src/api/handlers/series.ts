import { canonicalBlock } from "tidegate/http";
import type { LiveSeries } from "../../live/live.js";
import { badRequest, notFound } from "../api-problem.js";
import type { AdminParts, Handler } from "../handler.js";
import { clientSeriesQuery, parseAs, seriesQuery } from "../shapes.js";
import type { ClientSeriesAnswer, SeriesAnswer } from "../types.js";

export const series: Handler<SeriesAnswer> = async (parts, { query }) => {
  const { seconds = 600 } = parseAs(seriesQuery, query, "query");
  return { body: await seriesIn(parts).read(seconds) };
};

export const clientSeries: Handler<ClientSeriesAnswer> = async (parts, { query }) => {
  const { ip } = parseAs(clientSeriesQuery, query, "query");
  if (canonicalBlock(ip) === undefined)
    throw badRequest("query.ip", "This is not an address.", "Give one such as 203.0.113.7.");
  return { body: { client: (await seriesIn(parts).client(ip)) ?? null } };
};

function seriesIn({ live }: AdminParts): LiveSeries {
  if (live?.series !== undefined) return live.series;
  throw notFound("Nothing here meets traffic, so nothing is counted.", "Ask the server that does.");
}
