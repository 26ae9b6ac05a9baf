/** The vendor's models; `jev-latest` is an alias that moves with each release (contract section 9). */
export const vendorModels = [
  {
    name: "jev-latest",
    description: "Played by the local emulator.",
    release_date: "2026-11-01",
  },
];
