import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import sidebar from "./sidebar.json" with { type: "json" };

const docs = dirname(import.meta.dirname);
const root = dirname(docs);

/** READMEs that are pages of the site too: the path of each in the repository, and on the site. */
const readmes = new Map([
  ...["calibration", "cli", "client", "emulator", "runs"].map((name) => {
    return [`packages/evaluator-${name}/README.md`, `packages/evaluator-${name}.md`];
  }),
  ["apps/router/README.md", "packages/evaluator-router.md"],
  ["apps/triage/README.md", "packages/evaluator-triage.md"],
  ["examples/README.md", "packages/examples.md"],
]);
mkdirSync(join(docs, "packages"), { recursive: true });
for (const [file, page] of readmes) {
  writeFileSync(join(docs, page), readFileSync(join(root, file)));
}
const files = new Map(Array.from(readmes, ([file, page]) => [page, file]));
const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const github = `https://github.com/${repository.replace("github:", "")}/blob/main/`;

const isApi = (page) => page.startsWith("api/");

/** Returns where a link of a page leads on the site; on GitHub if the site does not have the file. */
function siteLink(page, target) {
  if (/^(?:[a-z]+:|#|\/)/.test(target) || isApi(page)) return target;
  const [path, hash = ""] = target.split(/(?=#)/);
  const found = posix.join(posix.dirname(files.get(page) ?? `docs/${page}`), path);
  const file = readmes.has(`${found}/README.md`) ? `${found}/README.md` : found;
  if (!readmes.has(file) && !file.startsWith("docs/")) return github + file + hash;
  return posix.relative(posix.dirname(page), readmes.get(file) ?? file.slice(5)) + hash;
}

/** Lets the links or pictures of a page lead to the pages of the site. */
function changeTargets({ renderer: { rules } }, rule, attribute) {
  const render = rules[rule];
  rules[rule] = (tokens, index, ...rest) => {
    const [, { relativePath }] = rest;
    const target = siteLink(relativePath, tokens[index].attrGet(attribute) ?? "#");
    tokens[index].attrSet(attribute, target);
    // It is a page of its own, which the site's router does not know.
    if (target.startsWith("playground/")) tokens[index].attrSet("target", "_self");
    return render(tokens, index, ...rest);
  };
}

/** Returns the id of a heading as GitHub makes it, so that the same links work here. */
function slugify(heading) {
  const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "");
  return words.trim().replaceAll(/\s/g, "-");
}

export default {
  title: "Evaluator",
  description: "Typed questions about a state, calibrated probabilities back.",
  srcExclude: ["playground"],
  head: [["style", {}, readFileSync(join(docs, ".vitepress/style.css"), "utf8")]],
  vite: {
    esbuild: { tsconfigRaw: {} },
    build: { chunkSizeWarningLimit: 2500 }, // the index of the search, which is loaded at the first one
  },
  markdown: {
    anchor: { slugify },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(md) {
      changeTargets(md, "link_open", "href");
      changeTargets(md, "image", "src");
    },
  },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        // Of the API only what has a name, not each "Returns"; guides come first.
        _render: (text, env, md) =>
          md.render(isApi(env.relativePath) ? text.replaceAll(/^#{4,} .*$/gm, "") : text, env),
        miniSearch: {
          searchOptions: { boostDocument: (id) => (id.startsWith("/api/") ? 0.5 : 1) },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: "Tutorial", link: "/tickets" },
      { text: "Playground", link: "/playground/index.html", target: "_self" },
      { text: "API", link: "/api/", activeMatch: "/api/" },
    ],
    sidebar,
  },
};
