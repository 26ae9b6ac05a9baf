/** How the report looks. */
export const reportStyle = `
body { margin: 2rem auto; padding: 0 1rem; max-width: 84rem; font: 15px/1.5 system-ui, sans-serif; color: #1d232b; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 1rem 0 2rem; }
dt { color: #5b6675; font-size: 0.8rem; } dd { margin: 0; overflow-wrap: anywhere; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 2rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: 0.5rem; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: #5b6675; font-size: 0.8rem; }
td, th { padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid #e3e7ec; vertical-align: top; overflow-wrap: anywhere; }
td:nth-child(2) { white-space: nowrap; }
`;
