import KernelContract

/// Every kernel there is, one list per function type; the order of a list is the preference.
///
/// Selection, tests, benchmarks and documentation read these lists and nothing else. The lists
/// stand beside the kernels, in extensions.
package enum KernelRegistry {}
