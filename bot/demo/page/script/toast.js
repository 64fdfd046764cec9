// One sentence at the foot of the window when something that a person did went wrong.

const place = document.getElementById("toast");
let ending = 0;

export function tell(text) {
  place.textContent = text;
  place.hidden = false;
  clearTimeout(ending);
  ending = setTimeout(() => { place.hidden = true; }, 8000);
}
