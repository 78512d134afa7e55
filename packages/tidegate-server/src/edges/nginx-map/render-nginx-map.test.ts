import { expect, it } from "vitest";
import { renderNginxMap } from "./render-nginx-map.js";

it("says of each file where it goes, and writes over none that holds entries", () => {
  const { files } = renderNginxMap();
  expect(files.map(({ name }) => name)).toEqual([
    "tidegate-map-http.conf",
    "tidegate-map-server.conf",
    "tidegate-map-location.conf",
  ]);
  for (const { text } of files) expect(text).toMatch(/^# Tidegate: /);
});

it("names the edge's file, and the file of its mode beside it", () => {
  const text = renderNginxMap({ file: "/srv/nginx/who.conf" }).files[0]?.text;
  expect(text).toContain("    include /srv/nginx/who.conf;\n");
  expect(text).toContain("    include /srv/nginx/who.conf.mod[e];\n");
});

it.each(["", "held.conf", "/a b", "/a;b", "/a\n", "/a/../b", "/$x", "/a{", "/folder/", '/a"'])(
  "lets no other path into a configuration: %j",
  (file) => {
    expect(() => renderNginxMap({ file })).toThrow(expect.objectContaining({ code: "TG_RENDER" }));
  },
);
