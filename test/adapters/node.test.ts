import { createServer } from "node:http";
import { decisionOf, type Handler, tidegate } from "tidegate/node";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";
import { answerNode, headerOfNode, listening } from "./serving.js";

adapterContract("tidegate/node", {
  async serve(mounts, app) {
    const guards = mounts.map((options) => tidegate(options));
    const handler = guards.reduceRight<Handler>((inner, guard) => guard(inner), answerNode(app, decisionOf));
    return listening(createServer(handler));
  },
  headerOf: headerOfNode,
});
