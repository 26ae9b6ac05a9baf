import { byId, copyOnClick } from "./elements.ts";

/** Returns the settings that point a program at this router; `<key>` is to be replaced. */
type Settings = (origin: string) => string;

const helloBody = '{"model":"auto","messages":[{"role":"user","content":"hi"}]}';

/** The programs whose settings the page shows, each as its documentation names them. */
const programs: Readonly<Record<string, Settings>> = {
  curl: (origin) =>
    `curl ${origin}/v1/chat/completions -H 'authorization: Bearer <key>' -H 'content-type: application/json' -d '${helloBody}'`,
  "Claude Code": (origin) =>
    `export ANTHROPIC_BASE_URL=${origin}\nexport ANTHROPIC_AUTH_TOKEN='<key>'\nclaude`,
  Codex: (origin) => `# ~/.codex/config.toml, with export ROUTER_ACCESS_TOKEN='<key>'
model = "auto"
model_provider = "router"

[model_providers.router]
name = "router"
base_url = "${origin}/v1"
wire_api = "responses"
env_key = "ROUTER_ACCESS_TOKEN"`,
  "OpenAI's packages": (origin) =>
    `export OPENAI_BASE_URL=${origin}/v1\nexport OPENAI_API_KEY='<key>'`,
  "Anthropic's packages": (origin) =>
    `export ANTHROPIC_BASE_URL=${origin}\nexport ANTHROPIC_AUTH_TOKEN='<key>'`,
};

/** Shows the address of this router, and the settings of the chosen program. */
export function showPrograms(): void {
  const programChoice = byId("program") as HTMLSelectElement;
  programChoice.append(...Object.keys(programs).map((programName) => new Option(programName)));
  const showSettings = () => {
    byId("settings").textContent = programs[programChoice.value]?.(location.origin) ?? "";
  };
  programChoice.addEventListener("change", showSettings);
  copyOnClick(byId("copy-settings"), () => byId("settings").textContent);
  byId("base").textContent = `${location.origin}/v1`;
  showSettings();
}
