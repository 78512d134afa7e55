import { startNginx } from "../../lib/nginx.mjs";

export const apps = {
  proxy: ({ upstream }) => startNginx(upstream),
};
