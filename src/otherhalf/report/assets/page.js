// What every page does: light and dark colours, and a button that copies the command.
(() => {
  "use strict";

  const copy = document.getElementById("copy");
  if (copy) copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById("command").textContent);
      copy.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(document.getElementById("command")); // the reader copies it by hand
      copy.textContent = "Selected";
    }
  });

  // ---------------------------------------------------------------- light and dark

  const theme = document.getElementById("theme");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  function paint(chosen) {
    if (chosen) root.dataset.theme = chosen;
    theme.setAttribute("aria-pressed", String(isDark()));
  }
  let kept = null;
  try { kept = localStorage.getItem("otherhalf-theme"); } catch { /* a page in a notebook may keep nothing */ }
  paint(kept === "dark" || kept === "light" ? kept : null);
  theme.addEventListener("click", () => {
    const chosen = isDark() ? "light" : "dark";
    paint(chosen);
    try { localStorage.setItem("otherhalf-theme", chosen); } catch { /* as above */ }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(null));

  root.classList.add("scripted");
})();
