// Questions that are folded: what is in them is drawn when they open, and a link opens the one that it leads into.

function questions() {
  return [...document.querySelectorAll("details.question")];
}

/** Returns the button that unfolds all, and folds all again. */
function bindFolds(drawIn) {
  for (const fold of questions()) {
    fold.addEventListener("toggle", () => {
      if (fold.open) drawIn(fold);
    });
  }
  const open = (fold) => {
    fold.open = true;
    drawIn(fold);
  };
  const reveal = (hash) => {
    const fold = document.getElementById(decodeURIComponent(hash.slice(1)))?.closest("details.question");
    if (fold && !fold.open) open(fold);
  };
  addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    if (link) reveal(link.getAttribute("href"));
  });
  addEventListener("hashchange", () => reveal(location.hash));
  if (location.hash) reveal(location.hash);
  const all = button("Unfold all", () => {
    const unfold = questions().some((fold) => !fold.open);
    questions().forEach((fold) => (unfold ? open(fold) : (fold.open = false)));
    all.textContent = unfold ? "Fold all" : "Unfold all";
  });
  return all;
}
