// Holds the dependencies to what the crate promises its users:
// - none needs a newer Rust than `rust-version` says;
// - none that users get turns on a feature that changes other crates of their build.
import { execFileSync } from "node:child_process";

const metadata = JSON.parse(
  execFileSync("cargo", ["metadata", "--locked", "--format-version", "1", "--all-features"], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  }),
);
const packages = new Map(metadata.packages.map((each) => [each.id, each]));
const nodes = new Map(metadata.resolve.nodes.map((each) => [each.id, each]));
const root = packages.get(metadata.resolve.root);
const faults = [];

const number = (version) => version.split(".").map(Number).reduce((sum, part) => sum * 1000 + part, 0) *
  (version.split(".").length === 2 ? 1000 : 1);

// What a user's build has: normal and build dependencies, not those of the tests.
const reached = new Set();
const visit = (id) => {
  if (reached.has(id)) return;
  reached.add(id);
  for (const dep of nodes.get(id).deps) {
    if (dep.dep_kinds.some(({ kind }) => kind !== "dev")) visit(dep.pkg);
  }
};
visit(root.id);

for (const id of reached) {
  const { name, version, rust_version: oldest } = packages.get(id);
  if (oldest && number(oldest) > number(root.rust_version)) {
    faults.push(`${name} ${version} needs Rust ${oldest}, the crate promises ${root.rust_version}`);
  }
}

const forbidden = {
  serde_json: ["preserve_order", "arbitrary_precision"],
  prost: ["no-recursion-limit"],
};
for (const { id, features } of nodes.values()) {
  const { name } = packages.get(id);
  for (const feature of forbidden[name] ?? []) {
    if (features.includes(feature)) faults.push(`${name} has the feature ${feature}`);
  }
}

for (const fault of faults) console.error(fault);
console.log(`${reached.size} packages, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
