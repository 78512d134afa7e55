import { createServer } from "node:http";
import connect from "connect";
import express from "express";
import express4 from "express4";
import { decisionOf, tidegate } from "tidegate/express";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";
import { answerNode, headerOfNode, listening } from "./serving.js";

adapterContract("tidegate/express on Express 5", {
  ignoresCase: true,
  async serve(mounts, app) {
    const server = express().set("env", "test");
    for (const options of mounts) server.use(tidegate(options));
    server.use(answerNode(app, decisionOf));
    return listening(createServer(server));
  },
  headerOf: headerOfNode,
});

adapterContract("tidegate/express on Express 4", {
  ignoresCase: true,
  async serve(mounts, app) {
    const server = express4().set("env", "test");
    for (const options of mounts) server.use(tidegate(options));
    const answer = answerNode(app, decisionOf);
    server.use((req, res, next) => void answer(req, res).catch(next));
    return listening(createServer(server));
  },
  headerOf: headerOfNode,
});

adapterContract("tidegate/express on Connect", {
  ignoresCase: true,
  async serve(mounts, app) {
    const server = connect();
    for (const options of mounts) server.use(tidegate(options));
    const answer = answerNode(app, decisionOf);
    server.use((req, res, next) => void answer(req, res).catch(next));
    return listening(createServer(server));
  },
  headerOf: headerOfNode,
});
